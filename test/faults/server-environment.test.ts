import { join } from "node:path";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD, type Thing } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

/** A server over a simulated pool with churn. */
async function start(t: Test, pool: string[], nodeArgs: string[]) {
  const pools = await simulate(t, "--churn", "20", ...pool);
  const { url, password } = pools.at(-1)!;
  const cwd = t.testdir({
    "config.yaml": [
      "xapi: { throttleMs: 50 }",
      // Sessions would end when the date jumps by their default lifetime.
      "auth: { sessionHours: 2000 }",
      `pools: [{ label: P, hosts: ["${url}"], password: ${password} }]`,
    ].join("\n"),
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const options = { cwd, env, nodeArgs };
  const server = new RunningProgram(t, "xo-server", args, options);
  const address = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, address, PASSWORD);
  const isCurrent = () =>
    page.until(
      ({ pools: { p } }) => p?.state === "watching" && p.staleSince == null,
    );
  await isCurrent();
  return { server, address, isCurrent };
}

async function poolOf(api: ApiSession): Promise<Thing> {
  return (await api.all({ type: "pool" }))[0]!;
}

/** Writes through the server to the pool and compares the mirror. */
async function checkMirror(t: Test, api: ApiSession, note: string) {
  const { id } = await poolOf(api);
  await api.request("pool.set", { id, name_description: note });
  t.equal((await poolOf(api))["name_description"], note);
  const verification = await api.request("pool.verify", { id });
  t.match(verification, { differing: 0, failed: [] });
}

t.test(
  "dates that jump by 30 days do not disturb the server",
  LIMIT,
  async (t) => {
    const clock = join(import.meta.dirname, "shifted-clock.js");
    const { server, address, isCurrent } = await start(
      t,
      [],
      ["--import", clock],
    );
    const before = await ApiSession.open(t, address);
    for (const days of ["30", "-30", "0"]) {
      server.child.kill("SIGUSR2");
      await server.find(new RegExp(`clock shifted by ${days} days`));
      await isCurrent();
      await checkMirror(t, before, `a session of before, ${days} days`);
      const after = await ApiSession.open(t, address);
      await checkMirror(t, after, `a new session, ${days} days`);
    }
    t.equal(await server.stop(), 0);
  },
);

t.test("a server with little memory serves a large pool", LIMIT, async (t) => {
  const limit = "--max-old-space-size=96";
  const { server, address, isCurrent } = await start(
    t,
    ["--pool", "B"],
    [limit],
  );
  const sessions = await Promise.all(
    Array.from({ length: 4 }, () => ApiSession.open(t, address)),
  );
  const lists = await Promise.all(
    sessions.map(
      (api) =>
        api.request("xo.getAllObjects") as Promise<Record<string, Thing>>,
    ),
  );
  for (const list of lists) {
    const vms = Object.values(list).filter(({ type }) => type === "VM");
    t.ok(vms.length > 300, `${vms.length} VMs`);
  }
  await isCurrent();
  await checkMirror(t, sessions[0]!, "still answers");
  t.equal(await server.stop(), 0);
});
