import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  deletePoolEndpoints,
  openPoolEndpoints,
} from "../src/pools/pool-endpoints.js";

const warnings: string[] = [];
const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => void warnings.push(message),
  error: () => undefined,
};

t.test("persisted data exists at the next start", async (t) => {
  const dataDir = t.testdir({});
  const memory = await openPoolEndpoints(dataDir, "paris", logger);
  t.same(memory.endpoints, { hosts: [], fingerprints: {} });
  memory.update({ hosts: ["https://192.0.2.1"] });
  memory.update({ fingerprints: { "192.0.2.1:443": "AB" } });
  await memory.settled();
  const later = await openPoolEndpoints(dataDir, "paris", logger);
  t.same(later.endpoints, {
    hosts: ["https://192.0.2.1"],
    fingerprints: { "192.0.2.1:443": "AB" },
  });
  const { mode } = statSync(join(dataDir, "pools", "paris.json"));
  t.equal(mode & 0o077, 0, "others need not read it");
});

t.test("rules and settings of a removed pool are deleted", async (t) => {
  const dataDir = t.testdir({});
  const memory = await openPoolEndpoints(dataDir, "paris", logger);
  memory.update({ hosts: ["https://192.0.2.66"] });
  await memory.settled();
  await deletePoolEndpoints(dataDir, "paris");
  await deletePoolEndpoints(dataDir, "paris");
  const later = await openPoolEndpoints(dataDir, "paris", logger);
  t.same(later.endpoints, { hosts: [], fingerprints: {} });
});

t.test("a damaged file counts as empty", async (t) => {
  for (const content of ["{", '{"hosts": 1}', '{"hosts": [1]}', "null"]) {
    const dataDir = t.testdir({ pools: { "paris.json": content } });
    warnings.length = 0;
    const memory = await openPoolEndpoints(dataDir, "paris", logger);
    t.same(memory.endpoints, { hosts: [], fingerprints: {} });
    t.match(warnings, [/paris\.json .* is ignored/]);
  }
});

t.test("a folder that is not writable is reported", async (t) => {
  const folder = t.testdir({ file: "" });
  const memory = await openPoolEndpoints(join(folder, "file"), "paris", logger);
  warnings.length = 0;
  memory.update({ hosts: ["https://192.0.2.1"] });
  await memory.settled();
  t.match(warnings, [/cannot be written/]);
  writeFileSync(join(folder, "file"), "still here");
  t.equal(readFileSync(join(folder, "file"), "utf8"), "still here");
});
