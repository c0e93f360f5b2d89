import { chmodSync } from "node:fs";
import { join } from "node:path";
import { XoError } from "@xo-server/model";
import t, { type Test } from "tap";
import { loadConfig, type ConfigOverrides } from "../src/config/load-config.js";
import { readPassword } from "../src/pools/pool-password.js";

/** A home with a config.yaml, and what loading it says. */
function load(t: Test, yaml: string, overrides: ConfigOverrides = {}) {
  const home = t.testdir({ "config.yaml": yaml });
  return loadConfig(undefined, overrides, { env: {}, cwd: home, home });
}

/** The problems it complains about, without the folder. */
function problemsOf(t: Test, yaml: string, overrides: ConfigOverrides = {}) {
  try {
    load(t, yaml, overrides);
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
    t.equal(error.code, "CONFIG_INVALID");
    const problems = (error.data["problems"] as string[] | undefined) ?? [
      error.message,
    ];
    return problems.map((line) => line.replace(/^.*[\\/]config/, "config"));
  }
  t.fail("the config was taken");
  return [];
}

t.test("without a file, everything is default", async (t) => {
  const home = t.testdir({});
  const { config, path, warnings } = loadConfig(
    undefined,
    {},
    { env: { XDG_CONFIG_HOME: home }, cwd: home, home },
  );
  t.equal(path, undefined);
  t.same(warnings, []);
  t.match(config, {
    http: { host: "0.0.0.0", port: 9000 },
    log: { format: "console", level: "info" },
    perf: { thresholdMs: 50, traceBlocks: false },
    pools: [],
  });
});

t.test("a config is frozen all the way down", async (t) => {
  const { config } = load(t, "pools: [{ hosts: [a.example], password: p }]\n");
  t.throws(() => Reflect.set(config.http, "port", 1) || fail());
  t.throws(() => Reflect.set(config.pools[0]!.tls, "trust", "x") || fail());
  t.equal(config.http.port, 9000);

  function fail(): never {
    throw new TypeError("not writable");
  }
});

t.test("an empty section has all defaults", async (t) => {
  const { config } = load(t, "http:\npools:\n");
  t.equal(config.http.port, 9000);
  t.same(config.pools, []);
});

t.test("the usual places are searched in their order", async (t) => {
  const root = t.testdir({
    cwd: { "config.yaml": "http: { port: 1 }\n" },
    elsewhere: {},
    settings: { "xo-server": { "config.yaml": "http: { port: 2 }\n" } },
    "named.yaml": "http: { port: 3 }\n",
    "env.yaml": "http: { port: 4 }\n",
  });
  const portFrom = (named: string | undefined, cwd: string, env = {}) =>
    loadConfig(
      named,
      {},
      {
        env: { XDG_CONFIG_HOME: join(root, "settings"), ...env },
        cwd: join(root, cwd),
        home: root,
      },
    ).config.http.port;
  const inEnvironment = { XO_CONFIG: join(root, "env.yaml") };
  t.equal(portFrom("../named.yaml", "cwd", inEnvironment), 3);
  t.equal(portFrom(undefined, "cwd", inEnvironment), 4);
  t.equal(portFrom(undefined, "cwd"), 1);
  t.equal(portFrom(undefined, "elsewhere"), 2);
});

t.test("a file named on the command line must exist", async (t) => {
  const home = t.testdir({});
  t.throws(() => loadConfig("absent.yaml", {}, { env: {}, cwd: home, home }), {
    code: "CONFIG_INVALID",
    message: /absent\.yaml: no such file/,
  });
});

t.test("the command line overrides the file", async (t) => {
  const { config } = load(t, "http: { port: 1, host: ::1 }\n", {
    port: 8080,
    logFormat: "json",
  });
  t.match(config, {
    http: { host: "::1", port: 8080 },
    log: { format: "json" },
  });
});

t.test("an unknown key is refused, and the nearest named", async (t) => {
  t.same(problemsOf(t, "http:\n  host: a\n  prot: 9000\n"), [
    'config.yaml:3: unknown key "prot" in http; did you mean "port"?',
  ]);
  t.match(problemsOf(t, "bananas: 1\n"), [
    /^config\.yaml:1: unknown key "bananas"; the nearest known key is "\w+"/,
  ]);
});

t.test("all problems are reported at once, each with its line", async (t) => {
  t.same(
    problemsOf(
      t,
      "log:\n  level: infos\nperf:\n  thresholdMs: fast\npools:\n  - hosts: 192.0.2.1\n",
    ),
    [
      'config.yaml:2: log.level must be one of debug, info, warn, error, silent; did you mean "info"?',
      "config.yaml:4: perf.thresholdMs must be an integer, not a string",
      "config.yaml:6: pools[0].hosts must be a list, not a string",
    ],
  );
});

t.test("values from the command line are named as such", async (t) => {
  t.same(problemsOf(t, "http: {}\n", { logLevel: "deafening" }), [
    "--log-level: log.level must be one of debug, info, warn, error, silent",
  ]);
});

t.test(
  "invalid YAML is reported with its line, without its text",
  async (t) => {
    const [problem] = problemsOf(t, 'pools:\n  - password: "hunter2\n');
    t.match(problem, /^config\.yaml:\d: /);
    t.notMatch(problem, "hunter2");
  },
);

t.test("a duplicate key is refused", async (t) => {
  t.match(problemsOf(t, "http: {}\nhttp: {}\n"), [
    /^config\.yaml:2: Map keys must be unique/,
  ]);
});

t.test("a key named __proto__ is a key like any other", async (t) => {
  t.match(problemsOf(t, "__proto__: { port: 1 }\n"), [
    /unknown key "__proto__"/,
  ]);
});

t.test("aliases that unfold without end are refused", async (t) => {
  const yaml = [
    "a: &a [1,1,1,1,1,1,1,1,1,1]",
    ..."bcdefghi".split("").map((key, index) => {
      const before = "abcdefghi"[index]!;
      return `${key}: &${key} [${new Array(10).fill(`*${before}`).join(",")}]`;
    }),
  ].join("\n");
  t.match(problemsOf(t, yaml), [/alias/i]);
});

t.test("a pool needs exactly one source of its password", async (t) => {
  t.match(problemsOf(t, "pools:\n  - hosts: [a]\n"), [
    /^config\.yaml:2: pools\[0\] needs exactly one of password, passwordFile and passwordEnv, not none/,
  ]);
  t.match(
    problemsOf(
      t,
      "pools:\n  - hosts: [a]\n    password: p\n    passwordEnv: P\n",
    ),
    [/not password and passwordEnv/],
  );
});

t.test("trust by fingerprint needs a fingerprint", async (t) => {
  t.match(
    problemsOf(
      t,
      "pools:\n  - hosts: [a]\n    password: p\n    tls: { trust: fingerprint }\n",
    ),
    [/pools\[0\]\.tls trust: fingerprint requires a fingerprint/],
  );
});

t.test("a file with passwords that others may read is warned of", async (t) => {
  const yaml = "pools: [{ hosts: [a], password: hunter2 }]\n";
  const home = t.testdir({ "config.yaml": yaml });
  const file = join(home, "config.yaml");
  const warnings = () =>
    loadConfig(file, {}, { env: {}, cwd: home, home }).warnings;
  chmodSync(file, 0o644);
  t.match(warnings(), [
    /contains passwords and is readable by other users; run: chmod 600/,
  ]);
  t.notMatch(warnings().join(), "hunter2");
  chmodSync(file, 0o600);
  t.same(warnings(), []);
});

t.test("a password is read from the configured file", async (t) => {
  const folder = t.testdir({ secret: "from a file\nsecond line\n", empty: "" });
  t.equal(await readPassword({ password: "p" }), "p");
  t.equal(
    await readPassword({ passwordFile: join(folder, "secret") }),
    "from a file",
  );
  t.equal(await readPassword({ passwordEnv: "P" }, { P: "env" }), "env");
  await t.rejects(readPassword({ passwordEnv: "P" }, {}), {
    code: "CONFIG_INVALID",
    message: /\$P is not set/,
  });
  await t.rejects(readPassword({ passwordFile: join(folder, "empty") }), {
    message: /is empty/,
  });
  await t.rejects(readPassword({ passwordFile: join(folder, "absent") }), {
    message: /cannot be read \(ENOENT\)/,
  });
});

t.test("keys of release 0.1 are refused with their new names", async (t) => {
  const yaml = `
http: { maxGuestSockets: 7 }
inventory: { remember: false, persist: true }
jobs: { keptRunsOfJob: 3, keptRuns: 4 }
activity: { entries: 16, hours: 2 }
`;
  t.match(problemsOf(t, yaml), [
    /^config\.yaml:2: http\.maxGuestSockets was renamed: use http\.maxAnonymousSockets/,
    /^config\.yaml:3: inventory\.remember was renamed: use inventory\.persist/,
    /jobs\.keptRunsOfJob was renamed: use jobs\.maxRunsPerJob/,
    /jobs\.keptRuns was renamed: use jobs\.maxRuns/,
    /activity\.entries was renamed: use activity\.maxEntries/,
    /activity\.hours was renamed: use activity\.retentionHours/,
  ]);
});

t.test("targets of the audit log are checked", async (t) => {
  const forward = (...targets: string[]) =>
    `audit: {forward: [${targets.map((target) => `{name: a, ${target}}`).join(", ")}]}\n`;
  for (const [target, problem] of [
    ["url: here", /audit\.forward\[0\]\.url must be a URL/],
    ["url: 'ftp://a.example/'", /must start with udp, tcp.*not ftp/],
    ["url: 'tcp://'", /url must be a URL|url has no host/],
    ["url: 'tls://a.example/path'", /must not have a path/],
    ["url: 'https://me:secret@a.example'", /must not contain a password/],
    ["url: 'file://host/path'", /must be file:\/\/\/path of a file/],
    ["url: 'file:///folder/'", /must be file:\/\/\/path of a file/],
    ["url: 'tcp://a.example', caFile: /ca", /caFile requires tls or https/],
    ["url: 'http://a.example', token: x", /token requires https/],
    ["url: 'https://a.example', token: x, tokenEnv: Y", /more than one way/],
    ["url: 'tls://a.example', keyFile: /key", /certificateFile is missing/],
    ["url: 'tls://a.example', maxEntryBytes: 100", /maxEntryBytes/],
  ] as const)
    t.match(problemsOf(t, forward(target)), [problem]);
  const twice = forward("url: 'udp://a.example'", "url: 'udp://b.example'");
  t.match(problemsOf(t, twice), [/forward\[1\]\.name a is used twice/]);
  const { config } = load(t, forward("url: 'udp://[::1]:514'"));
  t.match(config.audit.forward, [{ name: "a", existingEntries: false }]);
});
