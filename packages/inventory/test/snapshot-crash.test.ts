import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import t from "tap";
import { FakePool } from "./fake-pool.js";
import { contentOf } from "./mirror-pool.js";
import { run } from "./snapshot-pool.js";
import { stateAfter } from "./snapshot-writer.js";
import { until } from "./until.js";

const SEED = 20_261_121;
const KILLS = 12;
const program = fileURLToPath(new URL("snapshot-writer.js", import.meta.url));

/** Writes until it is killed, `ms` after the first checkpoint. */
async function writeAndDie(
  directory: string,
  from: number,
  ms: number,
): Promise<void> {
  const child = fork(program, [directory, String(from)], {
    // tap's loaders are not for it.
    env: { PATH: process.env["PATH"] },
    execArgv: [],
  });
  const ended = once(child, "exit");
  const [message] = (await Promise.race([once(child, "message"), ended])) as [
    unknown,
  ];
  if (message !== "writing") throw new Error("the writer ended by itself");
  await pause(ms);
  child.kill("SIGKILL");
  await ended;
}

/** What a server finds that cannot reach the pool. */
async function found(directory: string): Promise<Record<string, object>> {
  const pool = new FakePool(["VM"]);
  const server = await run(directory, pool, { isAway: true });
  await until(
    () => server.isRestored() || server.lines.some((l) => l.level === "warn"),
  );
  const content = contentOf(server.inventory, "p")["VM"] ?? {};
  await server.inventory.stop();
  return content as Record<string, object>;
}

t.test(
  `killed ${KILLS} times while writing: the file holds a state that was written (seed ${SEED})`,
  { timeout: 120_000 },
  async (t) => {
    const directory = t.testdir();
    let seed = SEED;
    let changes = 0;
    let generations = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      await writeAndDie(directory, changes, (seed >>> 8) % 150);
      const content = await found(directory);
      const before = changes;
      changes = Math.max(
        ...Object.values(content).map(
          (one) => (one as { change: number }).change,
        ),
      );
      t.ok(changes >= before, `${changes} changes`);
      t.same(content, stateAfter(changes));
      generations++;
    }
    t.equal(generations, KILLS);
  },
);
