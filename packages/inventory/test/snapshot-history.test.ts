import { cpSync, existsSync, rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import t, { type Test } from "tap";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import { CHECKPOINT_MS, run } from "./snapshot-pool.js";
import { createRandom, History } from "./pool-history.js";
import { until } from "./until.js";

const HISTORIES = 25;

type Server = Awaited<ReturnType<typeof run>>;

/** Whatever can happen to a server that watches. */
async function happen(
  { handle, clock, poll }: Server,
  { pool, ...history }: { pool: History["pool"]; steps: () => void },
  random: (limit: number) => number,
): Promise<void> {
  pool.forgetsDeletions = random(4) === 0;
  history.steps();
  switch (random(5)) {
    case 0:
      pool.lose("events-lost");
      await until(() => handle.status().state !== "watching");
      await until(() => {
        if (handle.status().state === "backing-off") clock.advance(60_000);
        return handle.status().state === "watching";
      });
      break;
    case 1:
      // Not waited for: it writes while the rest continues.
      clock.advance(CHECKPOINT_MS);
      break;
    default:
      await poll();
      clock.advance(1_000);
  }
}

/** The server ends, or is killed: then its files are as they are now. */
async function end(
  { inventory }: Server,
  directory: string,
  isKilled: boolean,
): Promise<void> {
  const copy = `${directory}-copy`;
  if (isKilled && existsSync(directory))
    cpSync(directory, copy, { recursive: true });
  await inventory.stop();
  if (!existsSync(copy)) return;
  rmSync(directory, { recursive: true });
  cpSync(copy, directory, {
    recursive: true,
    // It names this process, which is alive.
    filter: (path) => !path.endsWith(".lock"),
  });
  rmSync(copy, { recursive: true });
}

/**
 * What happens while no server runs. XAPI may be started again, which is another
 * issuer of tokens and knows no deletions; another time it drops some.
 */
function passTime(
  pool: History["pool"],
  steps: () => void,
  random: (limit: number) => number,
): void {
  const isStarted = random(4) === 0;
  if (isStarted) pool.issuer = `${pool.issuer}+`;
  pool.forgetsDeletions = isStarted || random(4) === 0;
  steps();
  pool.forgetsDeletions = false;
}

async function live(t: Test, seed: number) {
  const random = createRandom(seed);
  const history = new History(random);
  const { pool } = history;
  pool.issuer = "first";
  const directory = `${t.testdirName}/${seed}`;
  history.steps(60);
  const steps = () => {
    history.steps(20);
  };
  /** Undefined after a kill: some changes were not written. */
  let kept: object | undefined = {};
  for (let restart = 0; restart < 5; restart++) {
    const server = await run(directory, pool);
    // Also in the midst of the first listing.
    if (random(4) > 0) {
      await until(() => server.handle.status().state === "watching");
      for (let round = random(6); round > 0; round--)
        await happen(server, { pool, steps }, random);
    }
    const isKilled = random(3) === 0;
    await end(server, directory, isKilled);
    pool.forgetsDeletions = false;
    passTime(pool, steps, random);
    if (isKilled) kept = undefined;
    // One that was stopped before it knew anything leaves what there was.
    else if (server.handle.status().staleSince !== undefined)
      kept = contentOf(server.inventory, "p");
    if (kept !== undefined)
      await compareWithKept(t, { directory, pool, seed, kept });
  }
  return { directory, pool };
}

/** The pool answers, and all changes that it reports have been applied. */
async function untilCurrent({ handle, poll }: Server): Promise<void> {
  await until(() => handle.status().state === "watching");
  await poll();
  await until(() => handle.status().staleSince === undefined);
}

/** What was held when a server ended is what the next one finds. */
async function compareWithKept(
  t: Test,
  {
    directory,
    pool,
    seed,
    kept,
  }: Pick<History, "pool"> & {
    directory: string;
    seed: number;
    kept: object;
  },
): Promise<void> {
  const away = await run(directory, pool, { isAway: true });
  // That there is nothing to restore shows in nothing.
  if (Object.keys(kept).length > 0) await until(away.isRestored);
  const found = contentOf(away.inventory, "p");
  if (!isDeepStrictEqual(found, kept)) t.same(found, kept, `seed ${seed}`);
  const warnings = away.lines.filter(({ level }) => level === "warn");
  if (warnings.length > 0) t.same(warnings, [], `seed ${seed}`);
  await away.inventory.stop();
}

t.test(
  `events, losses and restarts: the inventory ends up as the pool is (${HISTORIES} seeds from 1)`,
  { timeout: 120_000 },
  async (t) => {
    t.testdir();
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const { directory, pool } = await live(t, seed);
      const last = await run(directory, pool);
      await untilCurrent(last);
      const content = contentOf(last.inventory, "p");
      const truth = contentOfPool(pool);
      if (!isDeepStrictEqual(content, truth)) t.same(content, truth, `${seed}`);
      await last.inventory.stop();
    }
    t.pass(`${HISTORIES} histories`);
  },
);
