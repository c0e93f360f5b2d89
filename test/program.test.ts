import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, rmdir } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine; tap takes this as the limit of the file, in ms.
t.comment("timeout=120000");

const LISTENING = /Web server listening on (http:\S+)/;

function start(t: Test, ...args: string[]): RunningProgram {
  return new RunningProgram(t, "xo-server", [
    "start",
    "--host",
    "127.0.0.1",
    "--port",
    "0",
    ...args,
  ]);
}

t.test(
  "without a configuration it starts, and shows how to add a pool",
  async (t) => {
    const server = start(t);
    const url = await server.find(LISTENING);
    await server.find(
      /No pools configured: add servers in the web page or under `pools` in config\.yaml/,
    );
    t.match(await (await fetch(`${url}/health`)).json(), {
      ready: true,
      draining: false,
      pools: { total: 0 },
    });
    t.equal(await server.stop("SIGTERM"), 0);
    t.match(server.output, /xo:main Stopped/);
  },
);

t.test(
  "the program works on when its working directory is deleted",
  async (t) => {
    const [pool] = await simulate(t);
    const folder = t.testdir({
      cwd: {},
      "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    });
    const file = join(folder, "config.yaml");
    // Not in the folder of tap, which does not repeat a removal that fails.
    const data = await mkdtemp(join(tmpdir(), "xo-program-"));
    t.teardown(() => rm(data, { recursive: true, force: true, maxRetries: 5 }));
    const paths = ["--config", file, "--data", data];
    const args = ["start", "--host", "127.0.0.1", "--port", "0", ...paths];
    const cwd = join(folder, "cwd");
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(LISTENING);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    await rmdir(cwd);
    await server.find(/the working directory was deleted/);
    // The planner starts a worker thread.
    const api = await ApiSession.open(t, url);
    const [id] = Object.keys(
      (await api.request("xo.getAllObjects", {
        filter: { type: "pool" },
      })) as object,
    );
    await t.resolves(api.request("placement.recommend", { pool: id }));
  },
);

t.test("the bundled program finds its WebAssembly module", async (t) => {
  const [pool] = await simulate(t);
  // The records of a pool load it, here in the thread that reports the metric.
  const cwd = t.testdir({
    "config.yaml": `
      parserPool: { place: main }
      pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const url = await server.find(LISTENING);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
  const metrics = await (await fetch(`${url}/metrics`)).text();
  t.match(metrics, /^xo_parser_webassembly 1$/m);
});

/** On SIGUSR2, a process that loads this module prints what was loaded and used before. */
const REPORT = `
  import module from "node:module";
  const used = [];
  const report = (target, name) => {
    const handler = { construct: (of, args) => (used.push(name), new of(...args)) };
    target[name] = new Proxy(target[name], handler);
  };
  for (const name of ["Collator", "DateTimeFormat", "NumberFormat"]) report(Intl, name);
  for (const name of ["Module", "Instance"]) report(WebAssembly, name);
  process.on("SIGUSR2", () => {
    const files = Object.keys(module._cache).map((file) => file.replace(/.*[/]/, ""));
    const threads = process.report.getReport().workers.length;
    console.log("loaded " + JSON.stringify({ threads, used, files }));
  });`;

interface Loaded {
  readonly threads: number;
  readonly used: readonly string[];
  readonly files: readonly string[];
}

async function startAndReport(
  t: Test,
  ...nodeOptions: readonly string[]
): Promise<{ loaded: Loaded; metrics: string }> {
  const preload = `data:text/javascript,${encodeURIComponent(REPORT)}`;
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--host", "127.0.0.1", "--port", "0"],
    { cwd: t.testdir(), nodeArgs: [...nodeOptions, "--import", preload] },
  );
  const url = await server.find(LISTENING);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  server.child.kill("SIGUSR2");
  const text = await server.find(/loaded (\{.*\})/);
  return { loaded: JSON.parse(text) as Loaded, metrics };
}

t.test("what only pools need is not loaded without pools", async (t) => {
  const { loaded } = await startAndReport(t);
  t.equal(loaded.threads, 1, "the thread of the database");
  t.same(loaded.used, [], "no tables of languages, no WebAssembly");
  t.notOk(loaded.files.includes("datamodel.json"));
});

t.test("compiled code is used with any limit of the heap", async (t) => {
  const limit = "--max-old-space-size=200";
  const { loaded, metrics } = await startAndReport(t, limit);
  // Without compiled code it is loaded as any other file.
  t.notOk(loaded.files.includes("xo-server.cjs"));
  const [, bytes] = /^xo_process_heap_limit_bytes (\d+)/m.exec(metrics)!;
  t.ok(Number(bytes) < 300 * 2 ** 20, "the limit holds");
});

t.test("the bundled program writes a heap snapshot", async (t) => {
  // The watchdog ends it if that blocks it for a minute.
  const cwd = t.testdir();
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const url = await server.find(LISTENING);
  const admin = await ApiSession.open(t, url);
  const { file } = (await admin.request("diagnostics.writeHeapSnapshot")) as {
    file: string;
  };
  t.match(JSON.parse(await readFile(join(cwd, file), "utf8")), {
    snapshot: {},
  });
  t.equal(await server.stop(), 0);
});

t.test("the bundled program creates a self-signed certificate", async (t) => {
  const cwd = t.testdir({
    "config.yaml": "http: { tls: { selfSigned: true } }",
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const server = new RunningProgram(t, "xo-server", args, { cwd });
  await server.find(/Web server listening on (https:\S+)/);
  t.equal(await server.stop(), 0);
});

t.test("systemd is notified of the start and of the stop", async (t) => {
  // Replaces the real program: writes its arguments to a file.
  const program = '#!/bin/sh\necho "systemd-notify" "$@" >> notified\n';
  const folder = t.testdir({ "systemd-notify": program });
  await chmod(join(folder, "systemd-notify"), 0o755);
  const env = {
    PATH: `${folder}:${process.env["PATH"]}`,
    NOTIFY_SOCKET: join(folder, "socket"),
  };
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const server = new RunningProgram(
    t,
    "xo-server",
    [...args, "--log-format", "journal"],
    { cwd: folder, env },
  );
  const url = await server.find(/^<6>xo:main Web server listening on (\S+)/);
  const notified = () =>
    readFile(join(folder, "notified"), "utf8").catch(() => "");
  while (!(await notified()).includes("\n")) await pause(20);
  t.equal(
    await notified(),
    `systemd-notify --ready --status=listening on ${url}\n`,
  );
  await server.stop();
  while (!(await notified()).includes("STATUS=stopping\n")) await pause(20);
  t.match(await notified(), "\nsystemd-notify STOPPING=1 STATUS=stopping\n");
});

t.test("Ctrl-C ends it as well", async (t) => {
  const server = start(t);
  await server.find(LISTENING);
  t.equal(await server.stop("SIGINT"), 0);
});

t.test("it ends when its event loop is blocked, with the stack", async (t) => {
  const block = "process.on('SIGUSR2', function block() { for (;;); })";
  // The watchdog starts with the first pool, also one that does not answer.
  const pools =
    "pools: [{ label: P, hosts: ['http://127.0.0.1:1'], password: x }]";
  const cwd = t.testdir({
    "config.yaml": `perf: { watchdogMs: 2000 }\n${pools}\n`,
  });
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--host", "127.0.0.1", "--port", "0"],
    { cwd, nodeArgs: ["--import", `data:text/javascript,${block}`] },
  );
  await server.find(LISTENING);
  t.equal(await server.stop("SIGUSR2"), 75);
  t.match(
    server.output,
    /xo:watchdog .*blocked for 2000 ms.*at process\.block/,
  );
});

t.test("logs are JSON lines if configured", async (t) => {
  const server = start(t, "--log-format", "json");
  await server.find(/"name":"xo:main","msg":"Web server listening on http:/);
  await server.stop();
  t.ok(server.lines.map((line) => JSON.parse(line) as unknown).length > 0);
});

t.test("an invalid configuration is reported with line numbers", async (t) => {
  const cwd = t.testdir({
    "config.yaml": "http:\n  prot: 9000\nlog: { level: 3 }\n",
  });
  const server = new RunningProgram(t, "xo-server", ["start"], { cwd });
  t.equal(await server.ended, 78);
  t.match(
    server.output,
    /config\.yaml:2: unknown key "prot" in http; did you mean "port"\?/,
  );
  t.match(server.output, /config\.yaml:3: log\.level must be one of/);
  t.notMatch(server.output, /^ +at /m, "no stack for what is not a bug");
});

t.test(
  "a configuration file named on the command line must exist",
  async (t) => {
    const server = start(t, "--config", "absent.yaml");
    t.equal(await server.ended, 78);
    t.match(server.output, /absent\.yaml: no such file/);
  },
);

t.test("a port in use is reported", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.teardown(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const server = start(t, "--port", String(port));
  t.equal(await server.ended, 69);
  t.match(server.output, `127.0.0.1:${port} is in use by another program`);
});

t.test("an invalid address is reported", async (t) => {
  const server = start(t, "--host", "192.0.2.1");
  t.equal(await server.ended, 78);
  t.match(server.output, /192\.0\.2\.1 is not an address of this machine/);
});

t.test("an unknown demo is reported", async (t) => {
  const server = start(t, "--demo", "Z");
  t.equal(await server.ended, 69);
  t.match(server.output, /the demo is not available/);
});

t.test("failing pools do not prevent the server from starting", async (t) => {
  const cwd = t.testdir({
    "config.yaml": [
      "pools:",
      "  - { label: Gone, hosts: ['http://127.0.0.1:1'], password: hunter2 }",
      "  - { label: Mute, hosts: ['http://127.0.0.1:1'], passwordFile: absent }",
    ].join("\n"),
  });
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--host", "127.0.0.1", "--port", "0"],
    { cwd },
  );
  const url = await server.find(LISTENING);
  await server.find(/xen-api root@127\.0\.0\.1: .*refused.* pool=Gone/);
  await server.find(/absent cannot be read/);
  t.equal(
    (await fetch(`${url}/health`)).status,
    200,
    "failed, and tried again",
  );
  await server.find(/chmod 600/);
  t.equal(await server.stop(), 0);
  t.notMatch(server.output, "hunter2");
});

t.test("the printed configuration is valid", async (t) => {
  const printed = new RunningProgram(t, "xo-server", ["example-config"]);
  t.equal(await printed.ended, 0);
  const cwd = t.testdir({ "config.yaml": `${printed.output}\n` });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const server = new RunningProgram(t, "xo-server", args, { cwd });
  await server.find(LISTENING);
  t.equal(await server.stop(), 0);
});
