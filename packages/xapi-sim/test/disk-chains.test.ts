import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import type { XapiRecord } from "../src/xapi-value.js";

const MiB = 2 ** 20;
const GiB = 2 ** 30;

/** A pool in which what happens later waits until `pass`, and a disk of 1 GiB. */
async function withDisk(type = "nfs") {
  const base = createTestPool();
  const waiting: { ms: number; work: () => void }[] = [];
  const { context, db } = base;
  const pool: TestPool = {
    ...base,
    call: async (method, ...params) => {
      const { operations } = await import("../src/plugins.js");
      return operations[method]!(
        {
          ...context,
          pool: {
            ...context.pool,
            later: (ms, work) => void waiting.push({ ms, work }),
          },
        },
        params,
      );
    },
  };
  const [sr] = [...db.records("SR")].find(
    ([, record]) => record["type"] === type && record["shared"] === true,
  )!;
  const disk = (await pool.call("VDI.create", {
    SR: sr,
    virtual_size: GiB,
    name_label: "d",
    type: "user",
    other_config: {},
  })) as string;
  const vdi = (ref: string) => db.get("VDI", ref);
  const uuid = (ref: string) => vdi(ref)["uuid"] as string;
  const parent = (ref: string) =>
    (vdi(ref)["sm_config"] as XapiRecord)["vhd-parent"] as string | undefined;
  const chain = (ref: string): number => {
    const below = parent(ref);
    return below === undefined ? 1 : 1 + chain(db.byUuid("VDI", below)!);
  };
  let written = 0;
  /** Writes a block of 64 KiB, another one each time. */
  const write = () => {
    const at = written++ * 65_536;
    pool.state.disks.write(uuid(disk), at, Buffer.alloc(65_536, written));
  };
  const pass = () => waiting.splice(0).map(({ ms, work }) => (work(), ms));
  const snapshot = () => pool.call("VDI.snapshot", disk, {}) as Promise<string>;
  const used = () => Number(db.get("SR", sr)["physical_utilisation"]);
  return {
    pool,
    db,
    sr,
    disk,
    vdi,
    uuid,
    parent,
    chain,
    write,
    pass,
    snapshot,
    used,
  };
}

t.test("a snapshot and its disk share a base copy", async (t) => {
  const { db, disk, vdi, parent, snapshot, write, used } = await withDisk();
  const first = used();
  const before = vdi(disk)["physical_utilisation"];
  write();
  const copy = await snapshot();
  const base = db.byUuid("VDI", parent(disk)!)!;
  t.equal(parent(copy), parent(disk));
  t.match(vdi(base), {
    name_label: "base copy",
    managed: false,
    read_only: true,
    physical_utilisation: before,
    virtual_size: GiB,
  });
  t.equal(vdi(copy)["physical_utilisation"], 2 * MiB);
  t.equal(used() - first, 4 * MiB);
});

t.test("a base copy with one child is merged, some time later", async (t) => {
  const { pool, db, disk, vdi, parent, snapshot, write, pass, used } =
    await withDisk();
  const disks = db.count("VDI");
  const before = used();
  write();
  const copy = await snapshot();
  write();
  const base = db.byUuid("VDI", parent(disk)!)!;
  await pool.call("VDI.destroy", copy);
  t.ok(db.find("VDI", base), "not at once");
  t.strictSame(pass(), [5000]);
  t.equal(db.find("VDI", base), undefined);
  t.equal(parent(disk), undefined);
  t.equal(db.count("VDI"), disks);
  t.equal(vdi(disk)["physical_utilisation"], 10 * MiB);
  t.equal(used() - before, 2 * MiB);
});

t.test(
  "of base copies in a chain, the upper one is merged into the lower",
  async (t) => {
    const { pool, db, disk, parent, uuid, snapshot, write, pass, chain } =
      await withDisk();
    const copies = [];
    for (let i = 0; i < 3; i++) {
      write();
      copies.push(await snapshot());
    }
    t.equal(chain(disk), 4);
    const lowest = db.byUuid("VDI", parent(copies[0]!)!)!;
    await pool.call("VDI.destroy", copies[0]!);
    pass();
    t.equal(chain(disk), 3);
    t.equal(
      parent(copies[1]!),
      uuid(lowest),
      "its parent is the lower one now",
    );
    for (const copy of copies.slice(1)) await pool.call("VDI.destroy", copy);
    while (pass().length > 0) continue;
    t.equal(chain(disk), 1);
    t.equal(db.find("VDI", lowest), undefined);
  },
);

t.test(
  "30 files at most: then a snapshot fails, until some are merged",
  async (t) => {
    const { pool, disk, snapshot, write, pass, chain } = await withDisk();
    const copies = [];
    for (let i = 0; i < 29; i++) {
      write();
      copies.push(await snapshot());
    }
    t.equal(chain(disk), 30);
    write();
    await t.rejects(snapshot(), {
      code: "SR_BACKEND_FAILURE_109",
      params: ["", "The snapshot chain is too long", ""],
    });
    await pool.call("VDI.destroy", copies[3]!);
    await t.rejects(snapshot(), { code: "SR_BACKEND_FAILURE_109" });
    pass();
    await snapshot();
    t.equal(chain(disk), 30);
  },
);

t.test(
  "a disk that was not written to needs no further base copy",
  async (t) => {
    const { pool, disk, snapshot, write, chain, parent } = await withDisk();
    write();
    const copies = [await snapshot(), await snapshot()];
    const clone = (await pool.call("VDI.clone", copies[0]!, {})) as string;
    for (const ref of [disk, ...copies, clone]) {
      t.equal(chain(ref), 2);
      t.equal(parent(ref), parent(disk));
    }
  },
);

t.test(
  "when the disk is deleted first, its snapshot has everything",
  async (t) => {
    const { pool, db, disk, snapshot, write, pass, parent } = await withDisk();
    write();
    const disks = db.count("VDI");
    const copy = await snapshot();
    await pool.call("VDI.destroy", disk);
    pass();
    t.equal(parent(copy), undefined);
    t.equal(db.count("VDI"), disks);
    await pool.call("VDI.destroy", copy);
    t.strictSame(pass(), []);
  },
);

t.test(
  "two disks of a base copy are deleted at once: so is the base copy",
  async (t) => {
    const { pool, db, disk, snapshot, write, pass } = await withDisk();
    write();
    const disks = db.count("VDI");
    const copy = await snapshot();
    await pool.call("VDI.destroy", copy);
    await pool.call("VDI.destroy", disk);
    pass();
    t.equal(db.count("VDI"), disks - 1);
  },
);

t.test("administrators switch merging off; a scan continues it", async (t) => {
  const { pool, db, sr, disk, snapshot, write, pass, chain } = await withDisk();
  write();
  const { other_config } = db.get("SR", sr);
  const set = (more: XapiRecord) =>
    db.update("SR", sr, {
      other_config: { ...(other_config as XapiRecord), ...more },
    });
  set({ coalesce: "false" });
  await pool.call("VDI.destroy", await snapshot());
  pass();
  t.equal(chain(disk), 2);
  set({});
  await pool.call("SR.scan", sr);
  pass();
  t.equal(chain(disk), 1);
});

t.test("on block storage a base copy keeps what has data", async (t) => {
  const { pool, db, disk, vdi, parent, snapshot, write, pass } =
    await withDisk("lvmoiscsi");
  write();
  const copy = await snapshot();
  const base = db.byUuid("VDI", parent(disk)!)!;
  t.equal(vdi(base)["physical_utilisation"], 65_536);
  t.equal(vdi(disk)["physical_utilisation"], GiB);
  t.equal(vdi(copy)["physical_utilisation"], 2 * MiB);
  await pool.call("VDI.destroy", copy);
  pass();
  t.equal(vdi(disk)["physical_utilisation"], GiB);
});

t.test("a full copy has no parent", async (t) => {
  const { pool, sr, snapshot, write, parent } = await withDisk();
  write();
  const copy = await snapshot();
  const full = (await pool.call(
    "VDI.copy",
    copy,
    sr,
    "OpaqueRef:NULL",
    "OpaqueRef:NULL",
  )) as string;
  t.equal(parent(full), undefined);
});

t.test("clones of a VM share files with it, copies do not", async (t) => {
  const { pool, db, parent } = await withDisk();
  const vm = pool.guest("Halted");
  const disksOf = (ref: string) =>
    (pool.vm(ref)["VBDs"] as string[])
      .map((vbd) => db.get("VBD", vbd))
      .filter(({ type }) => type === "Disk")
      .map(({ VDI }) => VDI as string);
  const copy = (await pool.call(
    "VM.copy",
    vm,
    "c",
    "OpaqueRef:NULL",
  )) as string;
  t.ok(disksOf(copy).length > 0);
  for (const disk of disksOf(copy)) t.equal(parent(disk), undefined);
  const clone = (await pool.call("VM.clone", vm, "c")) as string;
  t.strictSame(disksOf(clone).map(parent), disksOf(vm).map(parent));
  t.notOk(disksOf(clone).map(parent).includes(undefined));
});
