import { createHash } from "node:crypto";
import t from "tap";
import {
  disksOf,
  guestOf,
  placesOf,
  startSide,
  type Side,
} from "./support/two-pools.js";

const MiB = 2 ** 20;

/** Of all that is data, with its place. */
function digest({ db, pool }: Side, vdi: string): string {
  const uuid = db.get("VDI", vdi)["uuid"] as string;
  const hash = createHash("sha1").update(String(pool.disks.size(uuid)));
  for (const { offset, length, kind } of pool.disks.extents(uuid)) {
    if (kind === "zero") continue;
    const bytes = Buffer.alloc(length);
    pool.disks.read(uuid, offset, bytes);
    hash.update(String(offset)).update(bytes);
  }
  return hash.digest("hex");
}

const digests = (side: Side, vm: string) =>
  disksOf(side.db, side.db.get("VM", vm)).map((vdi) => digest(side, vdi));

/** The VM's disks written to, a snapshot taken, and written to again. */
async function withHistory(side: Side, vm: string): Promise<string> {
  const { pool, client, db } = side;
  const write = async (seed: number) => {
    for (const vdi of disksOf(db, db.get("VM", vm)))
      await pool.guests.write(vdi, {
        pattern: "filesystem",
        bytes: 3 * MiB + 4096,
        seed,
        length: 64 * MiB,
      });
  };
  await untrack(side, vm);
  await write(1);
  const snapshot = (await client.call("VM.snapshot", vm, "s", [])) as string;
  await write(2);
  return snapshot;
}

/** Disks with CBT do not move. */
async function untrack({ client, db }: Side, vm: string): Promise<void> {
  for (const vdi of disksOf(db, db.get("VM", vm)))
    await client.call("VDI.disable_cbt", vdi);
}

for (const state of ["Running", "Halted"])
  t.test(`a ${state} VM has the same bytes in another pool`, async (t) => {
    const here = await startSide(t, { seed: 1 });
    const there = await startSide(t, { seed: 2 });
    const { sr, network, host } = placesOf(there);
    const vm = guestOf(here, state);
    const snapshot = await withHistory(here, vm);
    const before = digests(here, vm);
    const [old, ...others] = digests(here, snapshot);
    t.notSame(before, [old, ...others]);
    const token = await there.client.call(
      "host.migrate_receive",
      host,
      network,
      {},
    );
    const all = [vm, snapshot].map((ref) => here.db.get("VM", ref));
    const disks = all.flatMap((record) => disksOf(here.db, record));
    const vifs = all.flatMap((record) => record["VIFs"] as string[]);
    const arrived = (await here.client.call(
      "VM.migrate_send",
      vm,
      token,
      true,
      Object.fromEntries(disks.map((vdi) => [vdi, sr])),
      Object.fromEntries(vifs.map((vif) => [vif, network])),
      {},
      {},
    )) as string;
    t.strictSame(digests(there, arrived), before);
    const [copy] = there.db.get("VM", arrived)["snapshots"] as [string];
    t.strictSame(digests(there, copy), [old, ...others], "its snapshot too");
    t.equal(here.pool.disks.storedBytes, 0, "nothing is left here");
  });

t.test("disks have the same bytes on another SR", async (t) => {
  const side = await startSide(t, { seed: 1 });
  const { client, db } = side;
  const vm = guestOf(side, "Running");
  await withHistory(side, vm);
  const before = digests(side, vm);
  const [vdi] = disksOf(db, db.get("VM", vm));
  const [sr] = [...db.records("SR")].find(
    ([ref, record]) =>
      record["shared"] === true &&
      record["content_type"] !== "iso" &&
      ref !== db.get("VDI", vdi!)["SR"],
  )!;
  const moved = (await client.call("VDI.pool_migrate", vdi, sr, {})) as string;
  t.equal(db.get("VDI", moved)["SR"], sr);
  t.strictSame(digests(side, vm), before);
});

t.test("a clone of a template begins with its bytes", async (t) => {
  const side = await startSide(t, { seed: 1 });
  const { client, db, pool } = side;
  const vm = guestOf(side, "Halted");
  const before = digests(side, vm);
  await client.call("VM.set_is_a_template", vm, true);
  const clones: string[] = [];
  for (let i = 0; i < 7; i++)
    clones.push((await client.call("VM.clone", vm, `clone ${i}`)) as string);
  t.equal(pool.disks.storedBytes, 0, "clones cost nothing");
  const [vdi] = disksOf(db, db.get("VM", clones[0]!));
  await pool.guests.write(vdi!, { pattern: "random", bytes: MiB });
  t.notSame(digests(side, clones[0]!), before);
  for (const clone of [vm, ...clones.slice(1)])
    t.strictSame(digests(side, clone), before);
});
