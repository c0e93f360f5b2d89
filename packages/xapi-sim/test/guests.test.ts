import { createHash } from "node:crypto";
import t from "tap";
import { writesOf } from "../src/guests/write-programs.js";
import { GuestWriters } from "../src/guests/guest-writers.js";
import { createTestPool } from "./operations-pool.js";
import { disksOf, guestOf, startSide } from "./support/two-pools.js";

const KiB64 = 64 * 1024;
const MiB = 2 ** 20;
const GiB = 2 ** 30;

for (const pattern of ["random", "sequential", "filesystem"] as const)
  t.test(`a ${pattern} program writes the same by the same seed`, (t) => {
    const run = (seed: number) =>
      [...writesOf({ pattern, bytes: 8 * MiB, seed }, GiB)].map(
        ({ offset, bytes }) => ({
          offset,
          length: bytes.length,
          digest: createHash("sha1").update(bytes).digest("hex"),
        }),
      );
    const [one, again, other] = [run(1), run(1), run(2)];
    t.strictSame(one, again);
    t.notOk(one.some(({ digest }, i) => digest === other[i]?.digest));
    t.equal(
      one.reduce((sum, { length }) => sum + length, 0),
      8 * MiB,
    );
    for (const { offset, length } of one)
      if (offset < 0 || offset + length > GiB) t.fail("outside");
    t.end();
  });

for (const size of [0, 4096, 100_000, 3 * MiB])
  t.test(`programs stay on a disk of ${size} bytes`, (t) => {
    for (const pattern of ["random", "sequential", "filesystem"] as const) {
      const writes = [...writesOf({ pattern, bytes: MiB }, size)];
      const outside = writes.filter(
        ({ offset, bytes }) => offset < 0 || offset + bytes.length > size,
      );
      t.equal(outside.length, 0, pattern);
    }
    t.end();
  });

t.test("random writes are whole blocks, each another", (t) => {
  const writes = [
    ...writesOf({ pattern: "random", bytes: 512 * KiB64 }, 1024 * KiB64),
  ];
  t.equal(new Set(writes.map(({ offset }) => offset / KiB64)).size, 512);
  t.ok(writes.every(({ offset }) => offset % KiB64 === 0));
  t.end();
});

t.test(
  "a program changes a disk, its size on the SR, and its bitmap",
  async (t) => {
    const { context, db, call, guest, state } = createTestPool();
    const guests = new GuestWriters(context);
    const vdi = (db.get("VM", guest("Running"))["VBDs"] as string[])
      .map((ref) => db.get("VBD", ref))
      .find(({ type }) => type === "Disk")!["VDI"] as string;
    const sr = db.get("VDI", vdi)["SR"] as string;
    db.update("SR", sr, { type: "nfs", sm_config: {} });
    await call("VDI.enable_cbt", vdi);
    const one = (await call("VDI.snapshot", vdi, {})) as string;
    const used = db.get("VDI", vdi)["physical_utilisation"] as number;
    const onSr = db.get("SR", sr)["physical_utilisation"] as number;
    const report = await guests.write(vdi, {
      pattern: "random",
      bytes: 4 * MiB,
    });
    t.match(report, { vdi, bytes: 4 * MiB, writes: 64 });
    t.equal(db.get("VDI", vdi)["physical_utilisation"], used + 4 * MiB);
    t.equal(db.get("SR", sr)["physical_utilisation"], onSr + 4 * MiB);
    const two = (await call("VDI.snapshot", vdi, {})) as string;
    const bitmap = Buffer.from(
      (await call("VDI.list_changed_blocks", one, two)) as string,
      "base64",
    );
    const uuid = (ref: string) => db.get("VDI", ref)["uuid"] as string;
    const extents = state.disks.extents(uuid(two), { from: uuid(one) });
    const blocks = extents.flatMap(({ offset, length }) =>
      Array.from({ length: length / KiB64 }, (_, i) => offset / KiB64 + i),
    );
    t.equal(blocks.length, 64);
    for (const block of blocks)
      t.ok(bitmap[block >> 3]! & (0x80 >> (block & 7)), `block ${block}`);
    await t.rejects(guests.write(one, { pattern: "random", bytes: 1 }), {
      message: /VDI_READONLY/,
    });
  },
);

t.test("guests that run write by themselves, others do not", async (t) => {
  const side = await startSide(t, { hosts: 2, vms: 12, seed: 5 });
  const { pool, db } = side;
  const timers: (() => void)[] = [];
  const { context } = createTestPool();
  const guests = new GuestWriters({
    ...context,
    db,
    clock: {
      now: () => 0,
      setTimeout: (work) => timers.push(work),
      clearTimeout: () => undefined,
    },
    state: { ...context.state, disks: pool.disks },
  });
  const stored = () => pool.disks.storedBytes;
  guests.setRate(4 * MiB);
  timers.pop()!();
  while (timers.length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  t.ok(stored() > MiB);
  const halted = disksOf(db, db.get("VM", guestOf(side, "Halted")));
  for (const vdi of halted)
    t.strictSame(
      pool.disks.history(db.get("VDI", vdi)["uuid"] as string).written,
      [],
    );
  guests.stop();
  timers.pop()!();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(timers.length, 0, "stopped");
});

t.test("programs are run through the control interface", async (t) => {
  const side = await startSide(t, { hosts: 1, vms: 4 });
  const { pool, db } = side;
  const [vdi] = disksOf(db, db.get("VM", guestOf(side, "Running")));
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${pool.url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as object };
  };
  const program = { vdi, pattern: "filesystem", bytes: MiB, seed: 3 };
  t.match(await post("/sim/write", program), {
    status: 200,
    body: { vdi, bytes: MiB },
  });
  t.match(await post("/sim/write", { ...program, pattern: "odd" }), {
    status: 400,
    body: { error: "pattern: one of random, sequential, filesystem" },
  });
  t.match(await post("/sim/guests", { bytesPerSecond: 1000 }), {
    body: { guestWrites: 1000, storedBytes: pool.disks.storedBytes },
  });
});
