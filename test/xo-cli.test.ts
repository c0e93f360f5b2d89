import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { root, RunningProgram } from "./running-program.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const PASSWORD = "correct horse battery";

interface Row {
  readonly id: string;
  readonly name_label: string;
  readonly power_state: string;
}

/** A demo server that has loaded all pools, and xo-cli in processes of its own. */
async function startDemo(t: Test) {
  const home = t.testdir({ server: {}, cli: {} });
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--demo", "C", "--host", "127.0.0.1", "--port", "0"],
    { cwd: join(home, "server"), env: { XO_ADMIN_PASSWORD: PASSWORD } },
  );
  const url = await server.find(/Web server listening on (http:\S+)/);
  const cwd = join(home, "cli");
  const start = (args: readonly string[], env = {}) =>
    new RunningProgram(t, "xo-cli", args, { cwd, env });
  const run = (args: readonly string[], env = {}) =>
    runToEnd([join(root, "bin", "xo-cli"), ...args], cwd, env);
  const list = async (...args: string[]) => {
    const { output } = await run(["list", ...args, "--json"], at(url));
    return JSON.parse(output) as Row[];
  };
  while ((await list("host")).length === 0);
  return { server, url, start, run, list, cwd };
}

interface Ended {
  readonly code: number;
  /** Stdout, then stderr. */
  readonly output: string;
}

function runToEnd(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const options = {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, ...env },
  };
  return new Promise((resolve) => {
    const child = execFile(
      "env",
      ["-u", "NODE_OPTIONS", process.execPath, ...args], // as RunningProgram
      options,
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode!, output: (stdout + stderr).trimEnd() });
      },
    );
  });
}

function at(url: string) {
  return { XO_SERVER: url };
}

t.test("the demo is visible to anonymous clients", LIMIT, async (t) => {
  const { server, url, start, run, list, cwd } = await startDemo(t);
  const running = await list("vm", "--filter", "power_state:running");
  t.ok(running.length > 1);
  t.ok(running.every(({ power_state }) => power_state === "Running"));
  const { id } = running[0]!;
  const got = await run(["get", id, "--json"], at(url));
  t.match(JSON.parse(got.output), { id, type: "VM" });
  const table = await run(["list", "vm", "--limit", "1"], at(url));
  t.match(table.output, /^name_label +power_state .*id\n.*[0-9a-f-]{36}$/);

  const watch = start(["watch", "vm", "--json"], at(url));
  const change = await watch.find(/^\{"event":"change".*/);
  t.match(JSON.parse(change), { object: { type: "VM" }, changed: [String] });
  t.ok(watch.lines.some((line) => line.startsWith('{"event":"ready"')));
  t.equal(await watch.stop("SIGINT"), 130);

  const denied = await run(["call", "vm.start", `id=${id}`], at(url));
  t.equal(denied.code, 3, denied.output);
  const { stdout } = await promisify(execFile)(
    "bash",
    [
      "-c",
      'unset NODE_OPTIONS; "$@" | head -1; echo "${PIPESTATUS[@]}"',
      "bash",
      process.execPath,
      join(root, "bin", "xo-cli"),
      "watch",
      "vm",
      "--json",
      "--server",
      url,
    ],
    { env: { PATH: process.env["PATH"], HOME: cwd } },
  );
  t.match(stdout, /^\{"event":"add".*\n0 0\n$/, "a pipe that is closed");

  const follower = start(["watch", "host", "--json"], at(url));
  await follower.find(/ready/);
  t.equal(await server.stop(), 0);
  await follower.find(/"event":"lost"/);
  t.equal(await follower.stop("SIGTERM"), 143);
  t.equal((await run(["list", "vm"], at(url))).code, 4);
});

t.test("an admin registers and starts a VM, watching it", LIMIT, async (t) => {
  const { url, start, run, list } = await startDemo(t);
  const registered = await run(["register", url, "admin"], {
    XO_PASSWORD: PASSWORD,
  });
  t.equal(registered.code, 0, registered.output);
  t.match((await run(["whoami"])).output, `admin (admin) on ${url}/`);
  const [halted] = await list("vm", "--filter", "power_state:halted");
  const { id } = halted!;
  const watch = start(["watch", "vm", "--json", "--filter", `id:${id}`]);
  await watch.find(/ready/);
  const started = await run(["call", "vm.start", `id=${id}`]);
  t.same(started, { code: 0, output: "true" });
  await watch.find(/"changed":\[.*"power_state".*"power_state":"Running"/);
  t.equal(await watch.stop("SIGINT"), 130);

  const action = `vms/${id}/actions/hard_shutdown`;
  const stopped = await run(["rest", "post", action, "--json"]);
  t.match(JSON.parse(stopped.output), { status: "success" }, "its task");
  const again = await run(["rest", "post", action]);
  t.match(again, { code: 1, output: /VM_BAD_POWER_STATE/ });
  const lines = await run(["rest", "get", "vms", "ndjson=true", "limit=2"]);
  t.match(lines.output, /^"\/rest\/v0\/vms\/.*"\n"\/rest\/v0\/vms\/.*"$/);
  t.equal((await run(["unregister"])).code, 0);
  t.equal((await run(["whoami"])).code, 3);
});

t.test(
  "an upload that is refused early ends with the reason",
  LIMIT,
  async (t) => {
    const { url, run, list, cwd } = await startDemo(t);
    await run(["register", url, "admin"], { XO_PASSWORD: PASSWORD });
    const [sr] = await list("sr", "--filter", "content_type:user");
    const file = join(cwd, "random.raw");
    await writeFile(file, randomBytes(16 * 2 ** 20));
    // The response and the rest of the file are in transit at the same time.
    for (let attempt = 0; attempt < 3; attempt++) {
      const args = ["call", "vm.import", `sr=${sr!.id}`, `@=${file}`];
      const { output, code } = await run(args);
      t.match(output, /not a valid XVA file/);
      t.equal(code, 1);
    }
  },
);
