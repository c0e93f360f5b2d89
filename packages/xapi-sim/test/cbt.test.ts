import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";

const UNRELATED =
  "Failed to calculate changed blocks for given VDIs. [opterr=Source and target VDI are unrelated]";
const KiB64 = 64 * 1024;
const MiB = 2 ** 20;

/** A pool with a new disk of 8 MiB on a thin SR. */
async function startDisk() {
  const pool = createTestPool();
  const [sr] = [...pool.db.records("SR")].find(
    ([, record]) => record["type"] === "nfs",
  )!;
  const vdi = (await pool.call("VDI.create", {
    SR: sr,
    virtual_size: 8 * MiB,
    type: "user",
    name_label: "a disk",
  })) as string;
  return { ...pool, sr, vdi };
}

function write(
  { db, state }: TestPool,
  vdi: string,
  offset: number,
  text = "x",
) {
  state.disks.write(
    db.get("VDI", vdi)["uuid"] as string,
    offset,
    Buffer.from(text),
  );
}

function first({ db, state }: TestPool, vdi: string, offset = 0): string {
  const into = Buffer.alloc(1);
  state.disks.read(db.get("VDI", vdi)["uuid"] as string, offset, into);
  return into.toString("latin1");
}

const snapshotOf = async ({ call }: TestPool, vdi: string) =>
  (await call("VDI.snapshot", vdi, {})) as string;

const hex = (bitmap: unknown) =>
  Buffer.from(bitmap as string, "base64").toString("hex");

t.test(
  "changed blocks are listed between snapshots of a disk with CBT",
  async (t) => {
    const disk = await startDisk();
    const { call, db, vdi } = disk;
    await call("VDI.enable_cbt", vdi);
    t.equal(db.get("VDI", vdi)["cbt_enabled"], true);
    const one = await snapshotOf(disk, vdi);
    write(disk, vdi, 0);
    write(disk, vdi, 9 * KiB64);
    const two = await snapshotOf(disk, vdi);
    write(disk, vdi, 127 * KiB64);
    t.equal(db.get("VDI", two)["cbt_enabled"], true);
    t.equal(
      hex(await call("VDI.list_changed_blocks", one, two)),
      "80400000000000000000000000000000",
    );
    t.equal(
      hex(await call("VDI.list_changed_blocks", one, vdi)),
      "80400000000000000000000000000001",
    );
    const baseCopies = () =>
      [...db.records("VDI")].filter(
        ([, { SR, managed }]) => SR === disk.sr && managed === false,
      ).length;
    const before = baseCopies();
    await call("VDI.data_destroy", one);
    t.equal(baseCopies(), before - 1, "its file leaves the chain");
    t.match(db.get("VDI", one), {
      type: "cbt_metadata",
      physical_utilisation: 0,
    });
    t.equal(
      hex(await call("VDI.list_changed_blocks", one, two)),
      "80400000000000000000000000000000",
      "the metadata is enough",
    );
    await call("VDI.data_destroy", one);
  },
);

t.test("disks that CBT does not connect are unrelated", async (t) => {
  const disk = await startDisk();
  const { call, failure, vdi } = disk;
  const untracked = await snapshotOf(disk, vdi);
  await call("VDI.enable_cbt", vdi);
  const before = await snapshotOf(disk, vdi);
  const list = (from: string, to: string) =>
    failure("VDI.list_changed_blocks", from, to);
  const unrelated = ["SR_BACKEND_FAILURE_460", "", UNRELATED, ""];
  t.strictSame(await list(untracked, vdi), unrelated);
  t.strictSame(await list(vdi, before), unrelated, "backwards");
  await call("VDI.disable_cbt", vdi);
  t.strictSame(await list(before, vdi), unrelated);
  await call("VDI.enable_cbt", vdi);
  const after = await snapshotOf(disk, vdi);
  t.strictSame(await list(before, after), unrelated, "off in between");
  t.match((await list(after, after))[2], /Source and target VDI are same/);
});

t.test("an attached disk cannot be the second one", async (t) => {
  const pool = createTestPool();
  const { db, call, failure, guest } = pool;
  const vbd = (db.get("VM", guest("Running"))["VBDs"] as string[])
    .map((ref) => db.get("VBD", ref))
    .find(({ type }) => type === "Disk")!;
  const vdi = vbd["VDI"] as string;
  await call("VDI.enable_cbt", vdi);
  t.notOk(
    (db.get("VDI", vdi)["allowed_operations"] as string[]).includes("mirror"),
  );
  const snapshot = await snapshotOf(pool, vdi);
  t.strictSame(await failure("VDI.list_changed_blocks", snapshot, vdi), [
    "VDI_IN_USE",
    vdi,
    "list_changed_blocks",
  ]);
  const sr = db.get("VDI", vdi)["SR"] as string;
  t.strictSame(await failure("VDI.pool_migrate", vdi, sr, {}), [
    "VDI_CBT_ENABLED",
    vdi,
  ]);
  t.strictSame(await failure("VDI.set_on_boot", vdi, "reset"), [
    "VDI_CBT_ENABLED",
    vdi,
  ]);
});

t.test("what CBT is refused for", async (t) => {
  const disk = await startDisk();
  const { call, failure, db, vdi } = disk;
  const snapshot = await snapshotOf(disk, vdi);
  t.strictSame(await failure("VDI.enable_cbt", snapshot), [
    "OPERATION_NOT_ALLOWED",
    `VDI is a snapshot: ${snapshot}`,
  ]);
  t.strictSame(await failure("VDI.data_destroy", snapshot), [
    "VDI_NO_CBT_METADATA",
    snapshot,
  ]);
  const [image] = [...db.records("VDI")].find(
    ([, { SR }]) => db.get("SR", SR as string)["content_type"] === "iso",
  )!;
  t.strictSame(await failure("VDI.enable_cbt", image), [
    "SR_OPERATION_NOT_SUPPORTED",
    db.get("VDI", image)["SR"],
  ]);
  await call("VDI.enable_cbt", vdi);
  t.strictSame(await failure("VDI.data_destroy", vdi), [
    "OPERATION_NOT_ALLOWED",
    `VDI is not a snapshot: ${vdi}`,
  ]);
  const tracked = await snapshotOf(disk, vdi);
  await call("VDI.data_destroy", tracked);
  for (const [method, ...params] of [
    ["VDI.snapshot", {}],
    ["VDI.clone", {}],
    ["VDI.copy", disk.sr, "OpaqueRef:NULL", "OpaqueRef:NULL"],
    ["VDI.resize", 16 * MiB],
  ] as const)
    t.strictSame(
      await failure(method, tracked, ...params),
      ["VDI_INCOMPATIBLE_TYPE", tracked, "cbt_metadata"],
      method,
    );
  t.ok(
    (db.get("VDI", tracked)["allowed_operations"] as string[]).includes(
      "list_changed_blocks",
    ),
  );
  await call("VDI.destroy", tracked);
});

t.test("data_destroy waits for VBDs, and not for ever", async (t) => {
  const disk = await startDisk();
  const { call, failure, guest, vdi } = disk;
  await call("VDI.enable_cbt", vdi);
  const snapshot = await snapshotOf(disk, vdi);
  const vbd = (await call("VBD.create", {
    VM: guest("Halted"),
    VDI: snapshot,
    userdevice: "autodetect",
    bootable: false,
    mode: "RO",
    type: "Disk",
    empty: false,
  })) as string;
  t.strictSame(await failure("VDI.data_destroy", snapshot), [
    "VDI_IN_USE",
    snapshot,
    "data_destroy",
  ]);
  await call("VBD.destroy", vbd);
  await call("VDI.data_destroy", snapshot);
});

t.test("a fault hides changed blocks", async (t) => {
  const disk = await startDisk();
  const { call, state, vdi } = disk;
  await call("VDI.enable_cbt", vdi);
  const one = await snapshotOf(disk, vdi);
  for (let block = 0; block < 8; block++) write(disk, vdi, block * KiB64);
  const two = await snapshotOf(disk, vdi);
  state.faults.set("cbtOmits", { value: 3, times: 1 });
  const count = async () =>
    [...hex(await call("VDI.list_changed_blocks", one, two))]
      .map(
        (digit) => parseInt(digit, 16).toString(2).replaceAll("0", "").length,
      )
      .reduce((sum, bits) => sum + bits);
  t.equal(await count(), 5);
  t.equal(await count(), 8);
});

t.test(
  "snapshots, clones, copies and reverts contain what they should",
  async (t) => {
    const disk = await startDisk();
    const { call, db, sr, vdi } = disk;
    write(disk, vdi, 0, "a");
    const used = () => db.get("SR", sr)["physical_utilisation"] as number;
    const before = used();
    const snapshot = await snapshotOf(disk, vdi);
    t.ok(used() - before <= 8 * MiB, "a snapshot shares what is there");
    write(disk, vdi, 0, "b");
    const clone = (await call("VDI.clone", vdi, {})) as string;
    const [other] = [...db.records("SR")].find(
      ([ref, { type }]) => ref !== sr && (type === "ext" || type === "nfs"),
    )!;
    const copy = (await call(
      "VDI.copy",
      snapshot,
      other,
      "OpaqueRef:NULL",
      "OpaqueRef:NULL",
    )) as string;
    write(disk, vdi, 0, "c");
    const into = (await call(
      "VDI.copy",
      clone,
      "OpaqueRef:NULL",
      "OpaqueRef:NULL",
      copy,
    )) as string;
    t.equal(into, copy);
    t.strictSame(
      await disk.failure(
        "VDI.copy",
        clone,
        "OpaqueRef:NULL",
        "OpaqueRef:NULL",
        snapshot,
      ),
      ["VDI_READONLY", snapshot],
    );
    write(disk, clone, 2 * MiB, "d");
    const target = (await call("VDI.clone", vdi, {})) as string;
    await call("VDI.copy", clone, "OpaqueRef:NULL", copy, target);
    t.strictSame(
      [first(disk, target), first(disk, target, 2 * MiB)],
      ["c", "d"],
      "what differs from the base",
    );
    const shown = [vdi, snapshot, clone, copy].map((ref) => first(disk, ref));
    t.strictSame(shown, ["c", "a", "b", "b"]);
    await call("VDI.revert", snapshot);
    t.equal(first(disk, vdi), "a");
    await call("VDI.destroy", snapshot);
    await call("VDI.resize", vdi, 16 * MiB);
    t.equal(first(disk, vdi), "a");
    t.equal(first(disk, vdi, 15 * MiB), "\0");
  },
);

t.test("a reverted VM has the bytes of its snapshot", async (t) => {
  const pool = createTestPool();
  const { call, db, guest } = pool;
  const vm = guest("Halted");
  const diskOf = () =>
    (db.get("VM", vm)["VBDs"] as string[])
      .map((ref) => db.get("VBD", ref))
      .find(({ type }) => type === "Disk")!["VDI"] as string;
  write(pool, diskOf(), 5, "1");
  const snapshot = (await call("VM.snapshot", vm, "before", [])) as string;
  write(pool, diskOf(), 5, "2");
  const copied = (await call(
    "VM.copy",
    vm,
    "copy",
    "OpaqueRef:NULL",
  )) as string;
  await call("VM.revert", snapshot);
  t.equal(first(pool, diskOf(), 5), "1");
  const [vbd] = (db.get("VM", copied)["VBDs"] as string[])
    .map((ref) => db.get("VBD", ref))
    .filter(({ type }) => type === "Disk");
  t.equal(first(pool, vbd!["VDI"] as string, 5), "2");
});

t.test(
  "snapshots from the start have the contents of their disk, also after it is deleted",
  async (t) => {
    const pool = createTestPool();
    const { db, state } = pool;
    const [, record] = [...db.records("VDI")].find(
      ([, vdi]) => vdi["is_a_snapshot"] === true,
    )!;
    const source = record["snapshot_of"] as string;
    const uuid = record["uuid"] as string;
    const disk = db.get("VDI", source)["uuid"] as string;
    t.strictSame(state.disks.extents(uuid, { from: disk }), []);
    const untouched = createTestPool();
    const bytes = Buffer.alloc(4096);
    const expected = Buffer.alloc(4096);
    state.disks.read(uuid, 0, expected);
    for (const vbd of db.get("VDI", source)["VBDs"] as string[])
      untouched.db.update("VBD", vbd, { currently_attached: false });
    await untouched.call("VDI.destroy", source);
    untouched.state.disks.read(uuid, 0, bytes);
    t.ok(bytes.equals(expected));
  },
);
