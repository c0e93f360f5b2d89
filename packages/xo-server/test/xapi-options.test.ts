import { createParserPool } from "@xo-server/parser-pool";
import t, { type Test } from "tap";
import { loadConfig } from "../src/config/load-config.js";
import { createLoggers } from "../src/log/logger.js";
import { createVolatilePoolEndpoints } from "../src/pools/pool-endpoints.js";
import {
  toDemoSettings,
  toPoolSettings,
  toStoredSettings,
} from "../src/pools/pool-settings.js";
import { toXapiOptions } from "../src/pools/xapi-options.js";

/** The options of the only pool of a config. */
function optionsOf(t: Test, pool: string, rest = "") {
  const home = t.testdir({
    "config.yaml": `${rest}\npools: [{ hosts: [a.example], password: p, ${pool} }]\n`,
  });
  const { config } = loadConfig(undefined, {}, { env: {}, cwd: home, home });
  const memory = createVolatilePoolEndpoints();
  const [configured] = toPoolSettings(config.pools);
  const make = (settings = configured!) =>
    toXapiOptions({
      settings,
      password: "p",
      memory,
      config,
      decoder: createParserPool({ place: "main" }),
      logger: createLoggers({ level: "silent" }).named("x"),
    });
  return { memory, make };
}

t.test("a pool uses its transport, else the default", async (t) => {
  const all = "xapi: { transport: xml-rpc, throttleMs: 7 }";
  t.match(optionsOf(t, "user: u", all).make(), {
    transport: "xml-rpc",
    throttleMs: 7,
    user: "u",
    readOnly: false,
    tls: { verify: true },
  });
  t.match(optionsOf(t, "transport: json-rpc, readOnly: true", all).make(), {
    transport: "json-rpc",
    readOnly: true,
  });
});

t.test(
  "members that were learned are tried after those of the config",
  async (t) => {
    const { make } = optionsOf(t, "user: u");
    make().onCandidates!(["https://192.0.2.9", "a.example"]);
    const { hosts, members } = make();
    t.same(hosts, ["a.example"], "only these were written by an administrator");
    t.same(members, ["https://192.0.2.9", "a.example"]);
  },
);

t.test("trust follows the configuration", async (t) => {
  const fingerprint = new Array(32).fill("AB").join(":");
  t.same(
    optionsOf(
      t,
      `tls: { trust: fingerprint, fingerprint: "${fingerprint}" }`,
    ).make().tls,
    { fingerprint },
  );
  t.same(optionsOf(t, "tls: { trust: insecure }").make().tls, {
    insecure: true,
  });
});

t.test(
  "a certificate trusted on first use is known from then on",
  async (t) => {
    const { make } = optionsOf(t, "tls: { trust: first-use }");
    const { tls } = make();
    if (tls === undefined || !("trustOnFirstUse" in tls)) return t.fail("tls");
    t.same(tls.known, {});
    tls.onFingerprint("a.example:443", "AB");
    t.match(make().tls, { known: { "a.example:443": "AB" } });
  },
);

t.test(
  "an accepted certificate is the first that is known of the pool's address, and good at others",
  async (t) => {
    const server = {
      id: "1",
      host: "xen1",
      username: "root",
      label: "",
      enabled: true,
      options: { fingerprint: "ab" },
      createdAt: 0,
      updatedAt: 0,
    };
    const settings = toStoredSettings(server, { password: "p" });
    const { memory, make } = optionsOf(t, "user: u");
    const { tls } = make(settings);
    if (tls === undefined || !("trustOnFirstUse" in tls)) return t.fail("tls");
    t.match(tls, { known: { "xen1:443": "ab" }, accepted: ["ab"] });
    memory.update({ fingerprints: { "xen1:443": "cd", "xen2:443": "ef" } });
    const later = make(settings).tls;
    t.match(later, { known: { "xen1:443": "cd", "xen2:443": "ef" } });
  },
);

t.test("pools have ids that suit addresses, files and JSON keys", async (t) => {
  const ids = ["Paris", "paris!", "../../etc", "__proto__", "日本"];
  const settings = toDemoSettings(
    ids.map((label) => ({ label, url: "http://x", user: "u", password: "p" })),
  );
  t.same(
    settings.map(({ id }) => id),
    ["paris", "paris-2", "etc", "proto", "pool"],
  );
});

t.test("responses are bounded by the memory unless configured", async (t) => {
  const byMemory = optionsOf(t, "user: u").make();
  t.ok(byMemory.maxBodyBytes! >= 128 * 2 ** 20);
  t.ok(byMemory.maxValueBytes! <= byMemory.maxBodyBytes! / 8);
  const configured = "parserPool: { maxBodyBytes: 2000000 }";
  t.match(optionsOf(t, "user: u", configured).make(), {
    maxBodyBytes: 2_000_000,
    maxValueBytes: 2_000_000,
  });
});
