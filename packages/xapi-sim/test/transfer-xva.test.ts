import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import t from "tap";
import { readTar, type TarFile } from "../src/transfer/tar.js";
import { xxh64 } from "../src/transfer/xxh64.js";
import {
  MiB,
  noise,
  startDiskPool,
  versionOf,
  type DiskPool,
} from "./disk-client.js";

const skip = versionOf("zstd") === undefined ? "zstd is not installed" : false;

/** A halted VM with a disk of 6 MiB that has data in its third MiB, and one of 3.5 MiB, full. */
async function withVm(pool: DiskPool) {
  const { call, put, createDisk } = pool;
  const [template] = (await call(
    "VM.get_by_name_label",
    "Other install media",
  )) as [string];
  const vm = (await call("VM.clone", template, "to export")) as string;
  await call("VM.set_is_a_template", vm, false);
  const first = await createDisk(6 * MiB);
  const data = Buffer.alloc(6 * MiB);
  noise(100_000, 1).copy(data, 2 * MiB + 5000);
  await put(`/import_raw_vdi?vdi=${first}`, data);
  const sr = (await call("VDI.get_SR", first)) as string;
  const odd = noise(3.5 * MiB, 2);
  const { result } = await put(`/import_raw_vdi?sr_id=${sr}`, odd);
  const second = /OpaqueRef:[-\w]+/.exec(result)![0];
  for (const [i, VDI] of [first, second].entries())
    await call("VBD.create", {
      VM: vm,
      VDI,
      userdevice: String(i),
      bootable: i === 0,
      mode: "RW",
      type: "Disk",
      empty: false,
      other_config: {},
      qos_algorithm_type: "",
      qos_algorithm_params: {},
    });
  return { vm, disks: [data, odd] as const };
}

async function filesOf(archive: Buffer): Promise<readonly TarFile[]> {
  const found = [];
  const chunks = (async function* () {
    yield archive;
  })();
  for await (const file of readTar(chunks, 2 * MiB)) found.push(file);
  return found;
}

/** Contents of a VM's disks, in the order of their places. */
async function contentsOf({ call, read }: DiskPool, vm: string) {
  const vbds = (await call("VM.get_VBDs", vm)) as string[];
  const disks = [];
  for (const vbd of vbds)
    disks.push({
      place: (await call("VBD.get_userdevice", vbd)) as string,
      bytes: await read((await call("VBD.get_VDI", vbd)) as string),
    });
  return disks
    .sort((a, b) => Number(a.place) - Number(b.place))
    .map(({ bytes }) => bytes);
}

const importedVm = (result: string) => /OpaqueRef:[-\w]+/.exec(result)![0];

t.test(
  "an archive: MiBs with XXH64 each; zeros only first and last",
  async (t) => {
    const pool = await startDiskPool(t);
    const { vm, disks } = await withVm(pool);
    const { body } = await pool.get(`/export?ref=${vm}`);
    const [ova, ...blocks] = await filesOf(body);
    t.equal(ova!.name, "ova.xml");
    const [id, other] = [
      ...new Set(blocks.map(({ name }) => name.split("/")[0]!)),
    ];
    t.strictSame(
      blocks.map(({ name, size }) => [name, size]),
      [
        ...[0, 2, 5].flatMap((i) => [
          [`${id}/0000000${i}`, MiB],
          [`${id}/0000000${i}.xxhash`, 16],
        ]),
        ...[0, 1, 2, 3].flatMap((i) => [
          [`${other}/0000000${i}`, i < 3 ? MiB : MiB / 2],
          [`${other}/0000000${i}.xxhash`, 16],
        ]),
      ],
    );
    for (let i = 0; i < blocks.length; i += 2)
      t.equal(blocks[i + 1]!.content!.toString(), xxh64(blocks[i]!.content!));
    t.ok(blocks[2]!.content!.equals(disks[0].subarray(2 * MiB, 3 * MiB)));
  },
);

t.test("hosts before 8.3 write SHA-1, which is read as well", async (t) => {
  const pool = await startDiskPool(t);
  const { vm, disks } = await withVm(pool);
  const { database } = pool.server.pool;
  for (const [host, { software_version }] of [...database.records("host")])
    database.update("host", host, {
      software_version: {
        ...(software_version as Record<string, string>),
        product_version: "8.2.1",
      },
    });
  const { body } = await pool.get(`/export?ref=${vm}`);
  const [, block, sum] = await filesOf(body);
  t.match(sum!.name, /\.checksum$/);
  t.equal(
    sum!.content!.toString(),
    createHash("sha1").update(block!.content!).digest("hex"),
  );
  const { result } = await pool.put("/import", body);
  const copies = await contentsOf(pool, importedVm(result));
  copies.forEach((bytes, i) => t.ok(bytes.equals(disks[i]!)));
});

for (const compression of ["false", "gzip", "zstd"])
  t.test(
    `what is exported is imported, use_compression=${compression}`,
    async (t) => {
      const pool = await startDiskPool(t);
      const { vm, disks } = await withVm(pool);
      const { body } = await pool.get(
        `/export?ref=${vm}&use_compression=${compression}`,
      );
      const { status, result } = await pool.put("/import", body);
      t.equal(status, "success");
      const copies = await contentsOf(pool, importedVm(result));
      t.equal(copies.length, 2);
      copies.forEach((bytes, i) => t.ok(bytes.equals(disks[i]!), `disk ${i}`));
    },
  );

t.test(
  "archives that the zstd program has packed are imported",
  { skip },
  async (t) => {
    const pool = await startDiskPool(t);
    const { vm, disks } = await withVm(pool);
    const { body } = await pool.get(`/export?ref=${vm}`);
    const packed = execFileSync("zstd", ["-1", "-c"], {
      input: body,
      maxBuffer: 64 * MiB,
    });
    const { result } = await pool.put("/import", packed);
    const copies = await contentsOf(pool, importedVm(result));
    copies.forEach((bytes, i) => t.ok(bytes.equals(disks[i]!)));
    const { body: own } = await pool.get(
      `/export?ref=${vm}&use_compression=zstd`,
    );
    const unpacked = execFileSync("zstd", ["-dc"], {
      input: own,
      maxBuffer: 64 * MiB,
    });
    t.equal(unpacked.length, body.length, "and the program reads ours");
    const cut = await pool.put("/import", packed.subarray(0, -100));
    t.equal(cut.status, "failure");
  },
);

t.test("a block that is damaged on the way is noticed", async (t) => {
  const pool = await startDiskPool(t);
  const { vm } = await withVm(pool);
  const { body } = await pool.get(`/export?ref=${vm}`);
  const { database, faults } = pool.server.pool;
  const counts = () =>
    ["VM", "VDI", "VBD"].map((className) => database.count(className));
  const before = counts();
  const flip = () =>
    faults.set("bitFlip", {
      value: body.length - 1_000_000,
      method: "http/put_import",
      times: 1,
    });
  flip();
  const { error_info } = await pool.put("/import", body);
  t.match(error_info.join(" "), /IMPORT_ERROR_SOME_CHECKSUMS_FAILED/);
  t.strictSame(counts(), before, "nothing is left");
  flip();
  const forced = await pool.put("/import?force=true", body);
  t.equal(forced.status, "success");
});

t.test("a VTPM and NVRAM travel with their contents", async (t) => {
  const pool = await startDiskPool(t);
  const { call, get, put } = pool;
  const { vm } = await withVm(pool);
  const vtpm = (await call("VTPM.create", vm, false)) as string;
  const contents = noise(3000, 4).toString("base64");
  await call("VTPM.set_contents", vtpm, contents);
  await call("VM.set_NVRAM", vm, { "EFI-variables": "QQ==" });
  const { body } = await get(`/export?ref=${vm}`);
  const { result, status } = await put("/import", body);
  t.equal(status, "success");
  const copy = importedVm(result);
  const [other] = (await call("VM.get_VTPMs", copy)) as string[];
  t.not(other, vtpm);
  t.equal(await call("VTPM.get_contents", other), contents);
  t.strictSame(await call("VM.get_NVRAM", copy), { "EFI-variables": "QQ==" });
});
