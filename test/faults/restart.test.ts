import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { setFault, simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const env = { XO_ADMIN_PASSWORD: PASSWORD };
const LISTENING = /Web server listening on (http:\S+)/;
const LOGIN = { value: true, method: "session.login_with_password" };
const args = ["start", "--host", "127.0.0.1", "--port", "0"];

t.test(
  "a killed server has the objects of its pools at its next start",
  LIMIT,
  async (t) => {
    const [pool] = await simulate(t);
    const cwd = t.testdir({
      "config.yaml": [
        "inventory: { checkpointMs: 200 }",
        "xapi: { backoff: { firstMs: 50, maxMs: 200 } }",
        `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
      ].join("\n"),
    });

    const { server: first, page } = await start();
    const before = await page.until(
      ({ pools }) => pools["p"]?.state === "watching",
    );
    const folder = join(cwd, "data", "inventory", "p");
    await page.until(() => existsFile(folder, /^\d+\.frames$/));
    t.equal(await first.stop("SIGKILL"), "SIGKILL");
    const killedAt = new Date().toISOString();

    t.test("the pool refuses all logins", LIMIT, async (t) => {
      await setFault(pool!, "http500", LOGIN);
      const second = await start();
      const remembered = await second.page.until(
        ({ pools }) => pools["p"]?.staleSince != null,
      );
      const status = remembered.pools["p"]!;
      t.same(
        withoutTasks(status.counts),
        withoutTasks(before.pools["p"]!.counts),
      );
      const counts = Object.values<number>(status.counts);
      const total = counts.reduce((sum, count) => sum + count, 0);
      t.equal(status.objects, total);
      t.ok(status.staleSince! < killedAt, "as of when it was last known");
      t.match(status.state, /connecting|backing-off/);
      await second.page.until(({ pools }) => pools["p"]!.error != null);
      await second.server.stop("SIGKILL");
    });

    t.test("the pool is back", LIMIT, async (t) => {
      await setFault(pool!, "http500", false);
      const third = await start();
      // It continues from the events of the last run: it is fresh after the first answer.
      const { pools } = await third.page.until(
        ({ pools }) =>
          pools["p"]?.state === "watching" && pools["p"].staleSince == null,
      );
      t.same(
        withoutTasks(pools["p"]!.counts),
        withoutTasks(before.pools["p"]!.counts),
      );
      t.match(
        third.server.output,
        /objects restored from the snapshot, as of /,
      );
      const metrics = await (await fetch(`${third.url}/metrics`)).text();
      t.match(metrics, /^xo_inventory_snapshot_cache_bytes [1-9]/m);
      t.match(metrics, /^xo_inventory_snapshot_cache_failing_pools 0$/m);
      t.equal(await third.server.stop(), 0);
    });

    t.test("the pool refuses all listings", LIMIT, async (t) => {
      const LISTING = { value: true, method: "VM.get_all_records" };
      await setFault(pool!, "http500", LISTING);
      const fourth = await start();
      const { pools } = await fourth.page.until(
        ({ pools }) =>
          pools["p"]?.state === "watching" && pools["p"].staleSince == null,
      );
      t.equal(pools["p"]!.error ?? null, null, "it is not listed");
      await fetch(`${pool!.url}/sim/restart`, { method: "POST" });
      await fourth.page.until(({ pools }) => pools["p"]!.error != null);
      t.ok(await fourth.server.find(/responded with HTTP 500/));
      await setFault(pool!, "http500", false);
      await fourth.page.until(({ pools }) => pools["p"]!.staleSince == null);
      t.equal(await fourth.server.stop(), 0);
    });

    t.test("no password of the pool is in the persisted data", async (t) => {
      const bytes = Buffer.concat(
        readdirSync(folder).map((name) => readFileSync(join(folder, name))),
      );
      t.notOk(bytes.includes("OpaqueRef"));
      t.notOk(bytes.includes("device_config"));
    });

    async function start() {
      const server = new RunningProgram(t, "xo-server", args, { cwd, env });
      const url = await server.find(LISTENING);
      return { server, url, page: await StatusPage.open(t, url, PASSWORD) };
    }
  },
);

/** Counts by class, sorted; the pool itself deletes its old tasks meanwhile. */
function withoutTasks(counts: Readonly<Record<string, number>>) {
  const own = Object.entries(counts).filter(([name]) => name !== "task");
  return own.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function existsFile(folder: string, name: RegExp): boolean {
  try {
    return readdirSync(folder).some((one) => name.test(one));
  } catch {
    return false;
  }
}
