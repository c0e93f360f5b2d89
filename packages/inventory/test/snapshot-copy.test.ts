import { existsSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import t, { type Test } from "tap";
import type { FetchCopy, SnapshotCopy } from "@xo-server/inventory";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import { createRandom, History } from "./pool-history.js";
import { CHECKPOINT_MS, filesOf, key, poolOf, run } from "./snapshot-pool.js";
import { until } from "./until.js";

const HISTORIES = 12;
/** Each server has a key of its own. */
const ownKey = key.map((byte) => byte ^ 1);

type Server = Awaited<ReturnType<typeof run>>;

/** A copy whose bytes have been read. */
interface TakenCopy {
  readonly copy: SnapshotCopy;
  readonly bytes: Buffer;
}

/** Undefined: the server has no event position, as while it lists the pool again. */
async function takeCopy({ inventory }: Server): Promise<TakenCopy | undefined> {
  const copy = await inventory.openSnapshotCopy("p");
  return copy && { copy, bytes: await buffer(copy.body) };
}

/** A server has mirrored the pool, was asked for a copy, and was stopped; listings are counted from here. */
async function copied(t: Test, pool = poolOf(20)) {
  pool.issuer ??= "host started at 1";
  const server = await run(join(t.testdir(), "sender"), pool);
  await until(server.isRestored);
  await server.poll();
  const taken = (await takeCopy(server))!;
  await server.inventory.stop();
  pool.listed.length = 0;
  return { pool, ...taken, directory: join(t.testdirName, "receiver") };
}

/** Offers copies in turn; `problems` gets the reason why one was not loaded. */
function offer(
  copies: readonly SnapshotCopy[],
  problems: string[] = [],
): FetchCopy {
  return async (_pool, load) => {
    for (const copy of copies)
      try {
        await load(copy);
        return;
      } catch (error) {
        problems.push((error as Error).message);
      }
  };
}

function withBody(copy: SnapshotCopy, bytes: Buffer): SnapshotCopy {
  return { ...copy, body: Readable.from([bytes]) };
}

t.test(
  "a pool without a snapshot is loaded from a copy, and its events continue without a listing",
  async (t) => {
    const { pool, copy, bytes, directory } = await copied(t);
    t.equal(bytes.length, copy.bytes);
    t.equal(copy.objects, 20);
    t.notOk(bytes.includes("OpaqueRef"), "it is encrypted");
    pool.put("VM", "OpaqueRef:3", { uuid: "u3", n: 3 });
    pool.put("VM", "OpaqueRef:new", { uuid: "new" });
    pool.delete("VM", "OpaqueRef:4");

    const fetchCopy = offer([withBody(copy, bytes)]);
    const late = await run(directory, pool, { key: ownKey, fetchCopy });
    await until(late.isRestored);
    t.type(late.handle.status().staleSince, "number", "as of the copy");
    t.same(filesOf(directory), [], "the copy is not retained");
    await late.poll();
    t.equal(late.handle.status().staleSince, undefined);
    t.same(contentOf(late.inventory, "p"), contentOfPool(pool));
    t.same(pool.listed, []);
    await late.checkpoint();
    await late.inventory.stop();

    const again = await run(directory, pool, { key: ownKey });
    await until(again.isRestored);
    await again.poll();
    t.same(contentOf(again.inventory, "p"), contentOfPool(pool));
    t.same(pool.listed, [], "it has written a snapshot of its own");
    await again.inventory.stop();
  },
);

t.test("a large copy is loaded by a thread", async (t) => {
  const large = poolOf(0);
  for (let i = 0; i < 400; i++)
    large.put("VM", `OpaqueRef:${i}`, { padding: "x".repeat(4_000), n: i });
  const { pool, copy, bytes, directory } = await copied(t, large);
  t.ok(bytes.length > 1 << 20);
  const damaged = Buffer.from(bytes);
  damaged.fill(0xff, 64 + 8, 64 + 16);
  const problems: string[] = [];
  const fetchCopy = offer(
    [withBody(copy, damaged), withBody(copy, bytes)],
    problems,
  );
  const late = await run(directory, pool, { key: ownKey, fetchCopy });
  await until(late.isRestored);
  await late.poll();
  t.same(contentOf(late.inventory, "p"), contentOfPool(pool));
  t.same(pool.listed, []);
  t.same(problems, [`it is damaged after 64 of ${bytes.length} bytes`]);
  await late.inventory.stop();
});

t.test("a snapshot of this server is preferred", async (t) => {
  const { pool } = await copied(t);
  let isCalled = false;
  const late = await run(join(t.testdirName, "sender"), pool, {
    fetchCopy: async () => void (isCalled = true),
  });
  await until(late.isRestored);
  t.notOk(isCalled);
  await late.inventory.stop();
});

t.test("a copy of an earlier process of XAPI is listed again", async (t) => {
  const { pool, copy, bytes, directory } = await copied(t);
  pool.issuer = "host started at 2";
  pool.forgetsDeletions = true;
  pool.delete("VM", "OpaqueRef:4");
  const fetchCopy = offer([withBody(copy, bytes)]);
  const late = await run(directory, pool, { key: ownKey, fetchCopy });
  await until(() => pool.listed.length === 4);
  await until(() => late.handle.status().staleSince === undefined);
  t.same(contentOf(late.inventory, "p"), contentOfPool(pool));
  await late.inventory.stop();
});

t.test("copies that are not usable: the pool is listed", async (t) => {
  const { pool, copy, bytes } = await copied(t);
  const change = (at: number) => {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    return changed;
  };
  async function* broken() {
    yield bytes.subarray(0, 100);
    throw new Error("connection lost");
  }
  const other = "0".repeat(16);
  for (const [what, offered, problem] of [
    [
      "cut",
      withBody(copy, bytes.subarray(0, -1)),
      /^it is damaged after 64 of /,
    ],
    ["empty", withBody(copy, Buffer.alloc(0)), /^the file head is damaged$/],
    [
      "a bit of a frame",
      withBody(copy, change(500)),
      /^it is damaged after 64/,
    ],
    [
      "another version",
      withBody(copy, change(8)),
      /^it was written by another version of xo-server$/,
    ],
    [
      "another key",
      { ...withBody(copy, bytes), key: ownKey },
      /^it is damaged after 64/,
    ],
    [
      "other objects",
      { ...withBody(copy, bytes), digest: other },
      /^it has 20 objects with digest \w{16} instead of 20 with 0{16}$/,
    ],
    [
      "more objects",
      { ...withBody(copy, bytes), objects: 21 },
      /^it has 20 objects .* instead of 21/,
    ],
    [
      "broken off",
      { ...copy, body: Readable.from(broken()) },
      /^connection lost$/,
    ],
  ] as const) {
    pool.listed.length = 0;
    const directory = join(t.testdirName, what);
    const problems: string[] = [];
    const fetchCopy = offer([offered], problems);
    const late = await run(directory, pool, { key: ownKey, fetchCopy });
    await until(late.isRestored);
    t.equal(pool.listed.length, 4, what);
    t.same(contentOf(late.inventory, "p"), contentOfPool(pool));
    t.match(problems, [problem], what);
    t.same(filesOf(directory), [], "nothing of it is left");
    await late.inventory.stop();
  }
});

t.test("a pool that is removed meanwhile gets no objects", async (t) => {
  const { pool, copy, bytes, directory } = await copied(t);
  const problems: string[] = [];
  let removed: Promise<void> | undefined;
  const fetchCopy: FetchCopy = async (one, load, signal) => {
    removed = late.inventory.removePool("p");
    t.ok(signal.aborted);
    await offer([withBody(copy, bytes)], problems)(one, load, signal);
  };
  const late = await run(directory, pool, { key: ownKey, fetchCopy });
  await until(() => removed !== undefined);
  await removed;
  t.match(problems, [/aborted/]);
  t.equal(late.inventory.objects, 0);
  t.notOk(existsSync(join(directory, "p")));
  await late.inventory.stop();
});

t.test("there is no copy of a pool", async (t) => {
  await t.test("that is not listed completely", async (t) => {
    const pool = poolOf(5);
    const server = await run(t.testdir(), pool, { isAway: true });
    t.equal(await server.inventory.openSnapshotCopy("p"), undefined);
    t.equal(await server.inventory.openSnapshotCopy("q"), undefined);
    await server.inventory.stop();
  });
  await t.test("that does not report the issuer of tokens", async (t) => {
    const server = await run(t.testdir(), poolOf(5));
    await until(server.isRestored);
    t.equal(await server.inventory.openSnapshotCopy("p"), undefined);
    await server.inventory.stop();
  });
  await t.test("of a server that was stopped", async (t) => {
    const pool = poolOf(5);
    pool.issuer = "host started at 1";
    const server = await run(t.testdir(), pool);
    await until(server.isRestored);
    await server.inventory.stop();
    t.equal(await server.inventory.openSnapshotCopy("p"), undefined);
  });
});

t.test(
  "what is written after a copy was opened is not part of it",
  async (t) => {
    const pool = poolOf(0);
    pool.issuer = "host started at 1";
    const put = (n: number) => {
      for (let i = 0; i < 500; i++)
        pool.put("VM", `OpaqueRef:${i}`, { n, padding: "x".repeat(4_000) });
    };
    put(0);
    const server = await run(join(t.testdir(), "sender"), pool);
    await until(server.isRestored);
    await server.poll();
    const copy = (await server.inventory.openSnapshotCopy("p"))!;
    const before = contentOf(server.inventory, "p");
    for (let n = 1; n < 4; n++) {
      put(n);
      await server.poll();
      await server.checkpoint();
    }
    t.not(filesOf(join(t.testdirName, "sender"))[0], "1.frames", "rewritten");
    const bytes = await buffer(copy.body);
    await server.inventory.stop();
    const late = await run(join(t.testdirName, "receiver"), pool, {
      key: ownKey,
      isAway: true,
      fetchCopy: offer([withBody(copy, bytes)]),
    });
    await until(late.isRestored);
    t.same(contentOf(late.inventory, "p"), before);
    await late.inventory.stop();
  },
);

/** A pool changes, its snapshot is written meanwhile, and a copy is requested at any moment. */
async function copyInHistory(t: Test, seed: number) {
  const random = createRandom(seed);
  const history = new History(random);
  const { pool } = history;
  pool.issuer = "first";
  history.steps(60);
  // Sometimes of several frames, between which events are applied.
  const size = random(2) * 500;
  const change = () => {
    for (let i = 0; i < size; i += 1 + random(9))
      pool.put("SR", `OpaqueRef:large${i}`, {
        n: random(1_000),
        padding: "x".repeat(5_000),
      });
  };
  change();
  pool.batchSize = Math.max(pool.batchSize, size);
  const server = await run(`${t.testdirName}/${seed}`, pool);
  await until(() => server.handle.status().state === "watching");
  let taken: ReturnType<typeof takeCopy> | undefined;
  for (let round = 2 + random(8); round > 0; round--) {
    pool.forgetsDeletions = random(6) === 0;
    history.steps(20);
    if (random(2) === 0) server.clock.advance(CHECKPOINT_MS);
    if (round === 2) taken = takeCopy(server);
    for (let polls = random(4); polls >= 0; polls--) {
      change();
      await server.poll();
    }
  }
  const copy = (await taken) ?? (await takeCopy(server))!;
  await server.inventory.stop();
  pool.forgetsDeletions = random(4) === 0;
  history.steps(20);
  pool.forgetsDeletions = false;
  const problems: string[] = [];
  const late = await run(`${t.testdirName}/${seed}-late`, pool, {
    key: ownKey,
    fetchCopy: offer([withBody(copy.copy, copy.bytes)], problems),
  });
  await until(() => late.handle.status().state === "watching");
  await late.poll();
  await until(() => late.handle.status().staleSince === undefined);
  if (problems.length > 0) t.same(problems, [], `seed ${seed}`);
  const content = contentOf(late.inventory, "p");
  const actual = contentOfPool(pool);
  if (!isDeepStrictEqual(content, actual)) t.same(content, actual, `${seed}`);
  await late.inventory.stop();
}

t.test(
  `copies of random histories are complete (${HISTORIES} seeds from 1)`,
  { timeout: 120_000 },
  async (t) => {
    t.testdir();
    for (let seed = 1; seed <= HISTORIES; seed++) await copyInHistory(t, seed);
    t.pass(`${HISTORIES} histories`);
  },
);
