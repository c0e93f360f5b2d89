import { once } from "node:events";
import {
  chmod,
  open,
  readdir,
  readFile,
  rm,
  writeFile,
} from "node:fs/promises";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { RunningProgram } from "./running-program.js";
import { simulate, type Simulated } from "./simulated.js";

t.comment("timeout=120000");

interface Report {
  readonly errors: number;
  readonly warnings: number;
  readonly findings: readonly {
    readonly check: string;
    readonly status: string;
    readonly message: string;
    readonly remedy?: string;
  }[];
}

/** config.yaml and a data folder. Programs run in separate folders. */
class Installation {
  readonly #t: Test;
  readonly folder: string;

  constructor(t: Test) {
    this.#t = t;
    this.folder = t.testdir({ data: {} });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async configure(port: number, ...lines: readonly string[]): Promise<void> {
    const text = [
      `dataDir: ${this.path("data")}`,
      `http: { host: 127.0.0.1, port: ${port}, maxConnections: 100 }`,
      ...lines,
    ];
    await writeFile(this.path("config.yaml"), `${text.join("\n")}\n`);
    await chmod(this.path("config.yaml"), 0o600);
    await chmod(this.path("data"), 0o700);
  }

  run(...args: readonly string[]): RunningProgram {
    const all = [...args, "--config", this.path("config.yaml")];
    return new RunningProgram(this.#t, "xo-server", all, { cwd: this.folder });
  }

  async startOnce(): Promise<void> {
    const server = this.run("start");
    await server.find(/Web server listening on/);
    await server.stop();
  }

  async doctor(...args: readonly string[]) {
    const program = this.run("doctor", "--json", ...args);
    const code = await program.ended;
    const report = JSON.parse(program.output) as Report;
    return {
      code,
      of: (check: string) =>
        report.findings
          .filter((finding) => finding.check === check)
          .map(({ status, message }) => `${status}: ${message}`),
      ...report,
    };
  }
}

function toPool(label: string, { url, password }: Simulated): string {
  return `{ label: ${label}, hosts: ["${url}"], password: ${password} }`;
}

t.test("an installation in order, and one whose server runs", async (t) => {
  const [pool] = await simulate(t);
  const place = new Installation(t);
  await place.configure(0, `pools: [${toPool("Paris", pool!)}]`);
  await place.startOnce();
  const report = await place.doctor();
  t.equal(report.errors, 0, JSON.stringify(report, null, 2));
  t.equal(report.code, report.warnings === 0 ? 0 : 2);
  t.match(report.of("store"), [/^ok: sqlite, schema \d+-.*, intact, users: 1/]);
  t.match(report.of("data"), [/^ok: /]);
  t.match(report.of("pool Paris"), [
    /^ok: 127\.0\.0\.1:\d+ answers/,
    /^ok: .+: (XCP-ng|XenServer|Citrix Hypervisor) [\d.]+/,
    /^ok: the clock of the coordinator differs by -?\d+ s/,
    /^ok: the account root is the local superuser/,
  ]);
  t.same((await place.doctor("--no-pools")).of("pools"), [
    "skipped: --no-pools",
  ]);

  const server = place.run("start");
  const url = await server.find(/Web server listening on (http:\S+)/);
  await place.configure(Number(new URL(url).port));
  while (!(await fetch(`${url}/health`)).ok);
  t.match((await place.doctor()).of("port"), [/^ok: xo-server runs on port/]);
  const other = await place.doctor("--data", place.path("other"));
  t.match(other.of("port"), [/^error: another xo-server uses port \d+/]);
});

t.test("what is wrong with pools", async (t) => {
  const [pool] = await simulate(t);
  const place = new Installation(t);
  await place.configure(
    0,
    "pools:",
    `  - ${toPool("Refused", { ...pool!, password: "wrong" })}`,
    `  - ${toPool("Absent", { ...pool!, url: "http://127.0.0.1:1" })}`,
    `  - { label: Mute, hosts: ["${pool!.url}"], passwordFile: nowhere }`,
  );
  const report = await place.doctor();
  t.equal(report.code, 1);
  t.match(report.of("pool Refused"), [
    /^ok: .* answers/,
    /^error: .*SESSION_AUTHENTICATION_FAILED|password/,
  ]);
  t.match(report.of("pool Absent"), [
    /^error: 127\.0\.0\.1:1: .*refused/,
    /^error/,
  ]);
  t.match(report.of("pool Mute"), [/^ok/, /^error: .*nowhere/]);
  t.ok(report.findings.every((one) => one.status !== "error" || one.remedy));
});

/** A host that answers as XAPI does without a session, and a sign-in as `answer` says. @returns its URL */
async function hostThatRejects(
  t: Test,
  answer: readonly string[] | "silence",
): Promise<string> {
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method } = JSON.parse(text) as Record<string, string>;
    const isSignIn = method === "session.login_with_password";
    if (isSignIn && answer === "silence") return;
    const [code, ...params] = isSignIn
      ? answer
      : ["SESSION_INVALID", "OpaqueRef:NULL"];
    const error = { code: 1, message: code, data: params };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  };
  const server = createHttpServer((request, response) => {
    reply(request, response).catch((error: unknown) => t.fail(String(error)));
  }).listen(0, "127.0.0.1");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test("why a pool cannot be signed in to in time", async (t) => {
  const place = new Installation(t);
  const pool = async (label: string, answer: readonly string[] | "silence") =>
    `  - { label: ${label}, hosts: ["${await hostThatRejects(t, answer)}"], password: x }`;
  await place.configure(
    0,
    "pools:",
    await pool("Booting", ["HOST_STILL_BOOTING"]),
    await pool("Member", ["HOST_IS_SLAVE", "127.0.0.2"]),
    await pool("Mute", "silence"),
  );
  const report = await place.doctor();
  const remedyOf = (label: string) =>
    report.findings.find(
      ({ check, status }) => check === `pool ${label}` && status === "error",
    )?.remedy;
  t.match(report.of("pool Booting"), [
    /^ok: .* answers/,
    /^error: not signed in within 15 s: HOST_STILL_BOOTING/,
  ]);
  t.match(remedyOf("Booting"), /toolstack of the host has started/);
  t.match(report.of("pool Member"), [
    /^ok: .* answers/,
    /^error: not signed in within 15 s: 127\.0\.0\.2:\d+ refused/,
  ]);
  t.match(remedyOf("Member"), /systemctl status xapi/);
  t.match(report.of("pool Mute"), [
    /^ok: .* answers/,
    /^error: 127\.0\.0\.1:\d+ has not answered the sign-in within 15 s/,
  ]);
});

t.test("what is wrong with files and ports", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.teardown(() => other.close());
  await once(other, "listening");
  const place = new Installation(t);
  await place.configure((other.address() as AddressInfo).port);
  const before = await place.doctor();
  t.match(before.of("store"), [/^warning: .*does not exist/]);
  t.match(before.of("port"), [/^error: .* is in use by another program/]);
  t.same(await readdir(place.path("data")), [], "nothing is created");
  const inFile = await place.doctor("--data", place.path("config.yaml/data"));
  t.match(inFile.of("data"), [
    /^error: .*does not exist, and .* may not create/,
  ]);

  await place.configure(0);
  await place.startOnce();
  await chmod(place.path("data"), 0o755);
  await chmod(place.path("data/store.key"), 0o644);
  const open = await place.doctor();
  t.match(open.of("data"), [
    /^warning: other users can enter .* \(mode 0755\)/,
    /^error: other users can read .*store\.key/,
  ]);
  t.match(open.of("store"), [/^error: .*must have mode 0600/]);
  await chmod(place.path("data/store.key"), 0o600);

  const database = await readFile(place.path("data/store.db"));
  await writeFile(place.path("data/store.db"), "x".repeat(8_192));
  const [overwritten] = (await place.doctor()).findings.filter(
    ({ check, status }) => check === "store" && status === "error",
  );
  t.match(overwritten, {
    message: /file is not a database/,
    remedy: /restore a backup/,
  });
  await writeFile(place.path("data/store.db"), database);
  await damage(place.path("data/store.db"));
  t.match((await place.doctor()).of("store"), [/^error: /]);
  await rm(place.path("data/store.db"));
  t.match((await place.doctor()).of("store"), [
    /^error: .*does not exist, but .* of an earlier start exists/,
  ]);
});

t.test("programs of others that cannot be reached", async (t) => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  closed.close();
  const open = createServer((socket) => socket.resume());
  open.listen(0, "127.0.0.1");
  t.teardown(() => open.close());
  await once(open, "listening");
  const openPort = (open.address() as AddressInfo).port;
  const place = new Installation(t);
  await place.configure(
    0,
    `mail: { host: 127.0.0.1, port: ${port} }`,
    `ldap: { urls: ["ldap://127.0.0.1:${port}", "ldaps://127.0.0.1:${openPort}"], base: "dc=example" }`,
    `oidc: { issuer: "http://localhost:${port}", clientId: x, clientSecret: y }`,
    `audit: { forward: [{ name: siem, url: "tcp://127.0.0.1:${port}" }, { name: near, url: "udp://127.0.0.1:${port}" }] }`,
    `telemetry: { url: "http://nowhere.invalid:4318/v1/traces" }`,
  );
  const report = await place.doctor();
  t.equal(report.code, 2, "the server works without them");
  t.match(report.of("services"), [
    /^warning: mail: 127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/,
    /^warning: audit target siem: .* cannot be reached/,
    /^warning: telemetry: nowhere\.invalid:4318 cannot be reached: .*nowhere/,
    /^warning: LDAP: .* cannot be reached/,
    /^ok: LDAP: 127\.0\.0\.1:\d+ accepts connections/,
    /^warning: OpenID Connect: localhost:\d+ cannot be reached: .*ECONNREFUSED/,
  ]);
  const { remedy } = report.findings.find(({ message }) =>
    message.startsWith("mail"),
  )!;
  t.match(remedy, /check mail\.host/);
});

t.test("an invalid configuration is reported with its lines", async (t) => {
  const place = new Installation(t);
  await place.configure(0, "log: { level: 3 }", "logg: {}");
  const report = await place.doctor();
  t.equal(report.code, 1);
  t.match(report.of("config"), [/^error: .*config\.yaml:\d: /, /^error: /]);
  const text = place.run("doctor");
  await text.ended;
  t.match(text.output, /error +config +.*config\.yaml:3/);
  t.match(text.output, /-> correct the file/);
  t.match(text.output, /^errors: 2, warnings: \d$/m);
});

/** Overwrites pages in the middle of a database. */
async function damage(path: string): Promise<void> {
  const { length } = await readFile(path);
  const file = await open(path, "r+");
  const garbage = Buffer.alloc(Math.floor(length / 2), 0xa5);
  await file.write(garbage, 0, garbage.length, 8192);
  await file.close();
}
