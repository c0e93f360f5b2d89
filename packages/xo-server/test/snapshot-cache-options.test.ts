import { existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { toSnapshotCacheOptions } from "../src/objects/snapshot-cache-options.js";
import { loadConfig } from "../src/config/load-config.js";

const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const pools = `pools:
  - { label: Paris, hosts: [a], password: p }
  - { label: Rome, hosts: [b], password: p, enabled: false }
`;

function configOf(home: string) {
  return loadConfig(
    join(home, "config.yaml"),
    { dataDir: join(home, "data") },
    { env: {}, cwd: home, home },
  ).config;
}

t.test("pools of the configuration are stored, enabled or not", async (t) => {
  const home = t.testdir({ "config.yaml": pools });
  const options = await toSnapshotCacheOptions(configOf(home), logger);
  t.match(options, {
    directory: join(home, "data", "inventory"),
    checkpointMs: 5_000,
    retainOnly: ["paris", "rome"],
    readAhead: ["paris"],
  });
  t.equal(options!.key.length, 32);
  t.ok(existsSync(join(home, "data", "inventory.key")));
});

t.test("pools added over the API are stored, too", async (t) => {
  const stored = [
    { id: "s1", enabled: true },
    { id: "s2", enabled: false },
  ];
  const both = t.testdir({ "config.yaml": pools });
  t.match(await toSnapshotCacheOptions(configOf(both), logger, { stored }), {
    retainOnly: ["paris", "rome", "s1", "s2"],
    readAhead: ["paris", "s1"],
  });
  const alone = t.testdir({ "config.yaml": "" });
  t.match(await toSnapshotCacheOptions(configOf(alone), logger, { stored }), {
    retainOnly: ["s1", "s2"],
    readAhead: ["s1"],
  });
});

t.test("without pools it is ready for one that is added later", async (t) => {
  const home = t.testdir({ "config.yaml": "" });
  t.match(await toSnapshotCacheOptions(configOf(home), logger), {
    directory: join(home, "data", "inventory"),
    retainOnly: [],
    readAhead: [],
  });
});

t.test("copies of other servers are fetched", async (t) => {
  const fetchCopy = async () => undefined;
  const home = t.testdir({ "config.yaml": "" });
  t.match(await toSnapshotCacheOptions(configOf(home), logger, { fetchCopy }), {
    retainOnly: [],
    fetchCopy,
  });
});

t.test("the key may be elsewhere", async (t) => {
  const home = t.testdir();
  const keyFile = join(home, "secrets", "key");
  t.testdir({
    "config.yaml": `inventory: { keyFile: "${keyFile}" }\n${pools}`,
  });
  await toSnapshotCacheOptions(configOf(home), logger);
  t.ok(existsSync(keyFile));
  t.notOk(existsSync(join(home, "data", "inventory.key")));
});

t.test("nothing is stored or created when it is not wanted", async (t) => {
  const yaml = `inventory: { persist: false }\n${pools}`;
  const home = t.testdir({ "config.yaml": yaml });
  t.equal(await toSnapshotCacheOptions(configOf(home), logger), undefined);
  t.notOk(existsSync(join(home, "data")));
});
