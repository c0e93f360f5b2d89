import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FakePool } from "./fake-pool.js";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import { filesOf, key, poolOf, run, settle } from "./snapshot-pool.js";
import { until } from "./until.js";

type Content = ReturnType<typeof contentOf>;

interface Past {
  readonly pool: FakePool;
  readonly bytes: Buffer;
  /** What a file of this size holds; the first is the smallest that holds anything. */
  readonly states: readonly { readonly size: number; content: Content }[];
}

/** A file that was appended to some times. */
async function pastOf(t: Test): Promise<Past> {
  const directory = t.testdir();
  const pool = poolOf(8);
  const { inventory, handle, checkpoint, poll } = await run(directory, pool);
  await until(() => handle.status().state === "watching");
  const states: { size: number; content: Content }[] = [];
  const note = async () => {
    await checkpoint();
    const size = inventory.stats.snapshotCache!.bytes;
    states.push({ size, content: contentOfPool(pool) });
  };
  await note();
  for (let i = 0; i < 4; i++) {
    pool.put("VM", "OpaqueRef:1", { uuid: "u1", n: 100 + i });
    pool.put("VBD", `OpaqueRef:b${i}`, { uuid: `b${i}` });
    pool.delete("VM", `OpaqueRef:${2 + i}`);
    await poll();
    await note();
  }
  const bytes = readFileSync(join(directory, "p", "1.frames"));
  // Stopping would append: what follows is as after SIGKILL.
  await inventory.stop();
  return { pool, bytes: bytes.subarray(0, states.at(-1)!.size), states };
}

/** What a server that cannot reach the pool shows of these files. */
async function shown(
  directory: string,
  pool: FakePool,
  options: Parameters<typeof run>[2] = {},
) {
  const server = await run(directory, pool, { isAway: true, ...options });
  const { inventory, handle, lines } = server;
  await until(
    () =>
      handle.status().staleSince !== undefined ||
      lines.some(({ level }) => level === "warn"),
  );
  await settle(3);
  const content = contentOf(inventory, "p");
  const { droppedBytes } = inventory.stats.snapshotCache!;
  return { content, droppedBytes, ...server };
}

function put(directory: string, name: string, bytes: Uint8Array): void {
  mkdirSync(join(directory, "p"), { recursive: true });
  writeFileSync(join(directory, "p", name), bytes);
}

function stateAt({ states }: Past, size: number): Content {
  return states.findLast((state) => state.size <= size)?.content ?? {};
}

t.test("a flipped bit ends reading of the file there", async (t) => {
  const past = await pastOf(t);
  const { bytes, pool } = past;
  for (let at = 0; at < bytes.length; at += 97) {
    const directory = join(t.testdirName, `flip-${at}`);
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1 << (at % 8);
    put(directory, "1.frames", damaged);
    const { content, inventory, droppedBytes } = await shown(directory, pool);
    t.same(content, stateAt(past, at), `byte ${at}`);
    t.ok(droppedBytes > 0);
    await inventory.stop();
  }
});

t.test("a truncated file holds the data before the cut", async (t) => {
  const past = await pastOf(t);
  const { bytes, pool } = past;
  for (let size = 0; size < bytes.length; size += 101) {
    const directory = join(t.testdirName, `cut-${size}`);
    put(directory, "1.frames", bytes.subarray(0, size));
    const { content, inventory } = await shown(directory, pool);
    t.same(content, stateAt(past, size), `${size} bytes`);
    await inventory.stop();
  }
});

t.test("data appended to a truncated file is found again", async (t) => {
  const past = await pastOf(t);
  const directory = join(t.testdirName, "torn");
  put(directory, "1.frames", past.bytes.subarray(0, past.bytes.length - 10));
  const { inventory, handle } = await run(directory, past.pool);
  await until(() => handle.status().state === "watching");
  await inventory.stop();
  t.same(filesOf(directory), ["1.frames"]);
  const next = await shown(directory, past.pool);
  t.same(next.content, contentOfPool(past.pool));
  t.equal(next.droppedBytes, 0);
  await next.inventory.stop();
});

t.test("missing, swapped or duplicated frames end the file", async (t) => {
  const past = await pastOf(t);
  const [one, two, three] = past.states.map(({ size }) => size) as [
    number,
    number,
    number,
  ];
  const base = past.bytes.subarray(0, one);
  const second = past.bytes.subarray(one, two);
  const third = past.bytes.subarray(two, three);
  const renumbered = Buffer.from(third);
  // The second field of a frame's header.
  renumbered.writeUInt32LE(second.readUInt32LE(4), 4);
  for (const [what, parts, expected] of [
    ["left out", [base, third], 0],
    ["swapped", [base, third, second], 0],
    ["left out and renumbered", [base, renumbered], 0],
    ["twice", [base, second, second], 1],
    ["without the first", [base.subarray(0, 64), second], -1],
  ] as const) {
    const directory = join(t.testdirName, what);
    put(directory, "1.frames", Buffer.concat(parts));
    const { content, inventory } = await shown(directory, past.pool);
    t.same(content, past.states[expected]?.content ?? {}, what);
    await inventory.stop();
  }
});

t.test("a file in the wrong folder is not read", async (t) => {
  const { pool, bytes } = await pastOf(t);
  for (const [what, id, name] of [
    ["another generation's name", "p", "7.frames"],
    ["another pool's folder", "q", "1.frames"],
  ] as const) {
    const directory = join(t.testdirName, what);
    mkdirSync(join(directory, id), { recursive: true });
    writeFileSync(join(directory, id, name), bytes);
    pool.setState("connecting");
    const { inventory, lines } = await run(directory, pool, { isAway: true });
    if (id === "q") inventory.addPool("q", pool);
    await until(() => lines.some(({ level }) => level === "warn"));
    t.equal(inventory.objects, 0, what);
    await inventory.stop();
  }
});

t.test(
  "with another key, nothing is read and the file is rewritten",
  async (t) => {
    const { pool, bytes, states } = await pastOf(t);
    const directory = join(t.testdirName, "key");
    put(directory, "1.frames", bytes);
    const other = { key: key.map((byte) => byte ^ 1) };
    const away = await shown(directory, pool, other);
    t.same(away.content, {});
    t.match(away.lines, [
      {
        level: "warn",
        message: /dropped: it is damaged or was encrypted with another key/,
      },
    ]);
    t.equal(away.lines.length, 1, "logged once");
    pool.setState("connected");
    await until(() => away.handle.status().state === "watching");
    await away.inventory.stop();
    t.same(filesOf(directory), ["2.frames"]);
    const next = await shown(directory, pool, other);
    t.same(next.content, states.at(-1)!.content);
    await next.inventory.stop();
  },
);

t.test("a file of another version is deleted with a log message", async (t) => {
  const { pool, bytes } = await pastOf(t);
  const directory = join(t.testdirName, "version");
  const other = Buffer.from(bytes);
  // Of the layout's digest, which stands behind the magic.
  other[8]! ^= 1;
  put(directory, "1.frames", other);
  const { content, lines, inventory } = await shown(directory, pool);
  t.same(content, {});
  t.match(lines, [
    { message: /dropped: it was written by another version of xo-server/ },
  ]);
  await inventory.stop();
});

t.test(
  "of two generations the later one is valid, an incomplete one never",
  async (t) => {
    const past = await pastOf(t);
    const work = join(t.testdirName, "generations");
    put(work, "1.frames", past.bytes);
    put(work, "2.frames.new", past.bytes.subarray(0, 500));
    put(work, "0.frames", Buffer.from("old"));
    const { content, inventory } = await shown(work, past.pool);
    t.same(content, past.states.at(-1)!.content);
    t.same(filesOf(work), ["1.frames"]);
    await inventory.stop();
  },
);

t.test(
  "a second server on the same folder runs without the cache",
  async (t) => {
    const directory = t.testdir();
    const pool = poolOf(4);
    const first = await run(directory, pool);
    await until(first.isRestored);
    await first.checkpoint();
    const { size } = statSync(join(directory, "p", "1.frames"));
    const other = poolOf(4);
    const second = await run(directory, other);
    await until(second.isRestored);
    t.match(second.lines, [
      { level: "warn", message: /is in use by another server/ },
    ]);
    other.put("VM", "OpaqueRef:1", { n: 1 });
    await second.poll();
    await second.inventory.stop();
    t.equal(statSync(join(directory, "p", "1.frames")).size, size);
    await first.inventory.stop();
  },
);

t.test("the lock of a killed server is taken over", async (t) => {
  const past = await pastOf(t);
  const dead = 2 ** 22 + 1;
  for (const [what, lock] of [
    ["no such process", `{"pid":${dead}}`],
    ["one that was started later", `{"pid":${process.pid},"started":"x"}`],
    ["half written", `{"pi`],
    ["empty", ""],
  ] as const) {
    const directory = join(t.testdirName, what);
    put(directory, "1.frames", past.bytes);
    writeFileSync(join(directory, ".lock"), lock);
    const { content, inventory } = await shown(directory, past.pool);
    t.same(content, past.states.at(-1)!.content, what);
    await inventory.stop();
  }
});

t.test("a folder that cannot be created is logged once", async (t) => {
  const home = t.testdir({ file: "" });
  const pool = poolOf(4);
  const { inventory, lines, clock, isRestored } = await run(
    join(home, "file", "inventory"),
    pool,
  );
  await until(isRestored);
  clock.advance(60_000);
  await settle();
  t.match(lines, [
    {
      level: "warn",
      message: /cannot be used, snapshots are disabled: ENOTDIR/,
    },
  ]);
  t.equal(lines.length, 1);
  t.equal(inventory.objects, 4);
  await inventory.stop();
});

t.test(
  "the pool's folder is unusable: it runs without the cache",
  async (t) => {
    const directory = t.testdir({ p: "a file" });
    const { inventory, lines, isRestored, clock } = await run(
      directory,
      poolOf(4),
    );
    await until(isRestored);
    clock.advance(5_000);
    await until(() => inventory.stats.snapshotCache!.failing === 1);
    t.equal(inventory.objects, 4);
    await inventory.stop();
    t.equal(lines.filter(({ level }) => level === "error").length, 0);
  },
);
