import t from "tap";
import {
  fromRaw,
  MiB,
  noise,
  startDiskPool,
  toRaw,
  versionOf,
  type DiskPool,
} from "./disk-client.js";

const skip =
  versionOf("qemu-img") === undefined ? "qemu-img is not installed" : false;
const vhd = "&format=vhd";
const size = 6 * MiB;

/** A disk with data in two of its three blocks of 2 MiB. @returns its reference and contents */
async function withData({ createDisk, put }: DiskPool) {
  const vdi = await createDisk(size);
  const raw = Buffer.alloc(size);
  noise(MiB, 1).copy(raw, 512 * 1024);
  noise(4096, 2).copy(raw, size - 4096);
  await put(`/import_raw_vdi?vdi=${vdi}`, raw);
  return { vdi, raw };
}

/** A snapshot, then a disk with three sectors changed, one of them to zeros. */
async function withDifference(pool: DiskPool) {
  const { vdi, raw } = await withData(pool);
  const snapshot = (await pool.call("VDI.snapshot", vdi, {})) as string;
  const now = Buffer.from(raw);
  noise(512, 3).copy(now, 3 * MiB);
  noise(512, 4).copy(now, 600 * 1024);
  now.fill(0, 700 * 1024, 700 * 1024 + 512);
  await pool.put(`/import_raw_vdi?vdi=${vdi}`, now);
  return { vdi, snapshot, raw, now };
}

t.test("raw: what is written is read again, whole", async (t) => {
  const pool = await startDiskPool(t);
  const { vdi, raw } = await withData(pool);
  t.ok((await pool.read(vdi)).equals(raw));
});

t.test("a VHD without blocks changes nothing", async (t) => {
  const pool = await startDiskPool(t);
  const { vdi, raw } = await withData(pool);
  const empty = await pool.read(await pool.createDisk(size), vhd);
  // As other programs write it: the last footer follows the sector of the table.
  const image = Buffer.concat([empty.subarray(0, 2048), empty.subarray(-512)]);
  const task = await pool.put(`/import_raw_vdi?vdi=${vdi}${vhd}`, image);
  t.equal(task.status, "success");
  t.ok((await pool.read(vdi)).equals(raw));
});

t.test("data behind the first 256 MiB of a disk is exported", async (t) => {
  const pool = await startDiskPool(t);
  const vdi = await pool.createDisk(520 * MiB);
  const { uuid } = (await pool.call("VDI.get_record", vdi)) as {
    uuid: string;
  };
  const small = await pool.createDisk(2 * MiB);
  t.ok((await pool.read(small, vhd)).length < 10_000, "an empty one is small");
  // A VHD with one block at 518 MiB.
  const image = Buffer.from(await pool.read(vdi, vhd));
  const footer = image.subarray(-512);
  const table = Number(image.readBigUInt64BE(512 + 16));
  image.writeUInt32BE((image.length - 512) / 512, table + 259 * 4);
  const block = Buffer.concat([Buffer.alloc(512, 0xff), noise(2 * MiB, 9)]);
  const upload = Buffer.concat([image.subarray(0, -512), block, footer]);
  const task = await pool.put(`/import_raw_vdi?vdi=${vdi}${vhd}`, upload);
  t.equal(task.status, "success");
  const raw = await pool.read(vdi);
  t.equal(raw.length, 520 * MiB);
  t.ok(raw.subarray(518 * MiB).equals(noise(2 * MiB, 9)));
  const exported = await pool.read(vdi, vhd);
  t.ok(exported.equals(upload), "the same VHD again");
  t.equal(exported.toString("hex", 68, 84), uuid.replace(/-/g, ""));
});

t.test(
  "qemu-img reads an exported VHD as the disk's bytes",
  { skip },
  async (t) => {
    const pool = await startDiskPool(t);
    const { vdi, raw } = await withData(pool);
    const image = await pool.read(vdi, vhd);
    t.ok(image.length < 4.1 * MiB, "a block of zeros is left out");
    t.ok(toRaw(image, "vpc").equals(raw));
  },
);

t.test("a VHD of qemu-img is imported", { skip }, async (t) => {
  const pool = await startDiskPool(t);
  const raw = Buffer.alloc(size);
  noise(MiB, 5).copy(raw, 4 * MiB);
  const image = fromRaw(raw, "vpc", "subformat=dynamic,force_size");
  const vdi = await pool.createDisk(size);
  const task = await pool.put(`/import_raw_vdi?vdi=${vdi}${vhd}`, image);
  t.equal(task.status, "success");
  t.ok((await pool.read(vdi)).equals(raw));
});

t.test(
  "base=: a differencing VHD has the sectors that differ, no others",
  async (t) => {
    const pool = await startDiskPool(t);
    const { vdi, snapshot, now } = await withDifference(pool);
    const image = await pool.read(vdi, `${vhd}&base=${snapshot}`);
    const uuids = (await Promise.all(
      [vdi, snapshot].map((ref) => pool.call("VDI.get_uuid", ref)),
    )) as [string, string];
    t.equal(image.readUInt32BE(60), 4, "a differencing disk");
    t.equal(image.toString("hex", 68, 84), uuids[0].replace(/-/g, ""));
    const header = image.subarray(512, 1536);
    t.equal(header.toString("hex", 40, 56), uuids[1].replace(/-/g, ""));
    const name = Buffer.from(header.subarray(64, 64 + 2 * 40)).swap16();
    t.equal(name.toString("utf16le"), `${uuids[1]}.vhd`);
    const locators = [0, 1].map((i) => {
      const entry = header.subarray(576 + i * 24, 600 + i * 24);
      const at = Number(entry.readBigUInt64BE(16));
      const path = image.subarray(at, at + entry.readUInt32BE(8));
      const platform = entry.toString("latin1", 0, 4);
      return [
        platform,
        path.toString(platform === "MacX" ? "utf8" : "utf16le"),
      ];
    });
    t.strictSame(locators, [
      ["MacX", `file://./${uuids[1]}.vhd`],
      ["W2ku", `.\\${uuids[1]}.vhd`],
    ]);
    const sectors = sectorsOf(image);
    t.strictSame(
      [...sectors.keys()],
      [600 * 1024, 700 * 1024, 3 * MiB],
      "in the disk's order",
    );
    for (const [at, bytes] of sectors)
      t.ok(bytes.equals(now.subarray(at, at + 512)), `at ${at}`);
  },
);

/** The sectors that a VHD of this disk has, by their offset on the disk. */
function sectorsOf(image: Buffer): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  const table = Number(image.readBigUInt64BE(512 + 16));
  for (let index = 0; index < size / 2 / MiB; index++) {
    const sector = image.readUInt32BE(table + index * 4);
    if (sector === 0xffffffff) continue;
    const at = sector * 512;
    for (let bit = 0; bit < 4096; bit++)
      if ((image[at + (bit >> 3)]! & (0x80 >> (bit & 7))) !== 0)
        found.set(
          index * 2 * MiB + bit * 512,
          image.subarray(at + 512 * (bit + 1), at + 512 * (bit + 2)),
        );
  }
  return found;
}

t.test("a difference is imported onto a copy of the base", async (t) => {
  const pool = await startDiskPool(t);
  const { vdi, snapshot, raw, now } = await withDifference(pool);
  const image = await pool.read(vdi, `${vhd}&base=${snapshot}`);
  const copy = (await pool.call("VDI.clone", snapshot, {})) as string;
  t.ok((await pool.read(copy)).equals(raw));
  const task = await pool.put(`/import_raw_vdi?vdi=${copy}${vhd}`, image);
  t.equal(task.status, "success");
  t.ok((await pool.read(copy)).equals(now));
  t.ok((await pool.read(snapshot)).equals(raw), "the base is what it was");
});

t.test("without a change, a difference has no blocks", async (t) => {
  const pool = await startDiskPool(t);
  const { vdi } = await withData(pool);
  const snapshot = (await pool.call("VDI.snapshot", vdi, {})) as string;
  const image = await pool.read(vdi, `${vhd}&base=${snapshot}`);
  t.equal(sectorsOf(image).size, 0);
  t.ok(image.length < 10_000);
});

t.test("a disk whose data was destroyed is not exported", async (t) => {
  const pool = await startDiskPool(t);
  const { vdi } = await withData(pool);
  await pool.call("VDI.enable_cbt", vdi);
  const snapshot = (await pool.call("VDI.snapshot", vdi, {})) as string;
  await pool.call("VDI.data_destroy", snapshot);
  for (const query of [`vdi=${snapshot}`, `vdi=${vdi}&base=${snapshot}`]) {
    const { status, task } = await pool.get(`/export_raw_vdi?${query}${vhd}`);
    t.match(status, / 500 /);
    t.match(task.error_info.join(" "), /VDI_INCOMPATIBLE_TYPE/);
  }
});

t.test("VHDs that are damaged or do not fit are refused", async (t) => {
  const pool = await startDiskPool(t);
  const { vdi } = await withData(pool);
  const image = await pool.read(vdi, vhd);
  const changed = (at: number) => {
    const bytes = Buffer.from(image);
    bytes[at]! ^= 1;
    return bytes;
  };
  const target = await pool.createDisk(size);
  const small = await pool.createDisk(2 * MiB);
  for (const [what, disk, body, reason] of [
    ["no cookie", target, changed(0), /no cookie/],
    ["its footer", target, changed(100), /footer is damaged/],
    ["its header", target, changed(512 + 70), /header is damaged/],
    ["within a block", target, image.subarray(0, 3 * MiB), /ends early/],
    ["without last footer", target, image.subarray(0, -512), /ends early/],
    ["too large", small, image, /larger than the disk/],
  ] as const) {
    const task = await pool.put(`/import_raw_vdi?vdi=${disk}${vhd}`, body);
    t.equal(task.status, "failure", what);
    t.match(task.error_info.join(" "), /VDI_IO_ERROR/, what);
    t.match(task.error_info.join(" "), reason, what);
  }
});

t.test("an import counts what the disk takes of its SR", async (t) => {
  const pool = await startDiskPool(t);
  const vdi = await pool.createDisk(size);
  const used = async () =>
    Number(await pool.call("VDI.get_physical_utilisation", vdi));
  const before = await used();
  await pool.put(`/import_raw_vdi?vdi=${vdi}`, noise(2 * MiB, 1));
  t.equal((await used()) - before, 2 * MiB);
});

t.test(
  "an upload that fails early ends while the client still sends",
  async (t) => {
    const pool = await startDiskPool(t);
    const vdi = await pool.createDisk(size);
    const path = `/import_raw_vdi?vdi=${vdi}${vhd}`;
    const task = await pool.put(path, Buffer.alloc(48 * MiB, "x"));
    t.match(task.error_info.join(" "), /no cookie/);
  },
);

t.test("a disk that is read cannot be destroyed, nor its base", async (t) => {
  const pool = await startDiskPool(t);
  const { call, server } = pool;
  const { vdi, snapshot } = await withDifference(pool);
  const { database, faults } = server.pool;
  faults.set("stall", { value: 100, method: "http/get_export_raw_vdi" });
  const aborted = new AbortController();
  const query = new URLSearchParams({ vdi, base: snapshot, format: "vhd" });
  query.set("session_id", server.session);
  const path = `/export_raw_vdi?${query.toString()}`;
  const answer = await fetch(server.pool.url + path, aborted);
  await answer.body!.getReader().read();
  for (const ref of [vdi, snapshot])
    await t.rejects(call("VDI.destroy", ref), /VDI_IN_USE/);
  const vbds = () =>
    (database.get("VDI", vdi)["VBDs"] as string[]).map((ref) =>
      database.get("VBD", ref),
    );
  t.match(vbds(), [{ mode: "RO", currently_attached: true }]);
  aborted.abort();
  while (vbds().length > 0) await new Promise((done) => setImmediate(done));
  await call("VDI.destroy", snapshot);
  await call("VDI.destroy", vdi);
});
