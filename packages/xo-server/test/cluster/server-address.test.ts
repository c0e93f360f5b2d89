import { hostname } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { toServerAddress } from "../../src/cluster/server-address.js";
import { loadConfig } from "../../src/config/load-config.js";

function configOf(t: Test, yaml: string) {
  const home = t.testdir({ "config.yaml": yaml });
  const nowhere = { env: {}, cwd: home, home };
  return loadConfig(join(home, "config.yaml"), {}, nowhere).config;
}

t.test("where other servers reach a server", async (t) => {
  for (const [yaml, seenFrom, expected] of [
    ["http: { host: 10.0.0.1 }", "10.0.0.7", "10.0.0.1:9001"],
    ["http: { host: 127.0.0.1 }", "10.0.0.7", "127.0.0.1:9001"],
    ["", "10.0.0.7", "10.0.0.7:9001"],
    ['http: { host: "::" }', "2001:db8::7", "[2001:db8::7]:9001"],
    ["", "127.0.0.1", `${hostname()}:9001`],
    ["", "::1", `${hostname()}:9001`],
    ["", undefined, `${hostname()}:9001`],
    ["server: { address: 10.0.0.9 }", "10.0.0.7", "10.0.0.9:9001"],
    ['server: { address: "xo1.lan:80" }', "10.0.0.7", "xo1.lan:80"],
    ['server: { address: "[2001:db8::9]" }', "::1", "[2001:db8::9]:9001"],
    ['server: { address: "[2001:db8::9]:80" }', "::1", "[2001:db8::9]:80"],
  ] as const) {
    const config = configOf(t, yaml);
    t.equal(toServerAddress({ config, port: 9001, seenFrom }), expected, yaml);
  }
});

t.test("an address that is a URL, or has spaces, is invalid", async (t) => {
  for (const address of ["http://xo1", "2001:db8::9", "a b", ":80", "a:b"])
    t.throws(
      () => configOf(t, `server: { address: "${address}" }`),
      { code: "CONFIG_INVALID" },
      address,
    );
});
