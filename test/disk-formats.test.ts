import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 400_000 };
t.comment("timeout=400000");

const MiB = 2 ** 20;
const qemu =
  spawnSync("qemu-img", ["--version"]).status === 0
    ? {}
    : { skip: "qemu-img is not installed" };

t.test("disks are exported in formats of other products", LIMIT, async (t) => {
  const { admin, addUser, list } = await startStorageBench(t);
  const [sr] = await list("srs", "SR_type:nfs");
  const content = Buffer.alloc(10 * MiB);
  for (const at of [0, 5 * MiB + 4096])
    randomBytes(MiB + 512).copy(content, at);
  const created = await admin.fetch(
    `/srs/${sr!.id}/vdis?raw=true&name_label=round`,
    {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: content,
    },
  );
  const { id } = (await created.json()) as Row;
  const read = async (format: string) => {
    const answer = await admin.fetch(`/vdis/${id}.${format}`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const length = answer.headers.get("content-length");
    return { bytes, length, type: answer.headers.get("content-type") };
  };

  t.test("the length of a qcow2 image is known before", async (t) => {
    const { bytes, length, type } = await read("qcow2");
    t.equal(length, String(bytes.length));
    t.equal(type, "application/x-qemu-disk");
    t.ok(bytes.length < 7 * MiB, "without the blocks that have no data");
  });

  t.test("a VMDK is compressed while it is sent", async (t) => {
    const { bytes, length, type } = await read("vmdk");
    t.equal(length, null);
    t.equal(type, "application/x-vmdk");
    t.ok(bytes.length < 3 * MiB);
  });

  for (const format of ["qcow2", "vmdk"])
    t.test(`qemu-img reads the ${format}`, qemu, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "xo-formats-"));
      t.teardown(() => rm(folder, { recursive: true, force: true }));
      await writeFile(join(folder, "disk"), (await read(format)).bytes);
      const convert = ["convert", "-f", format, "-O", "raw", "disk", "raw"];
      execFileSync("qemu-img", convert, { cwd: folder });
      t.ok((await readFile(join(folder, "raw"))).equals(content));
    });

  for (const args of [
    ["qcow2"],
    ["qcow2", "-c"],
    ["qcow2", "-o", "cluster_size=512,compat=0.10"],
    ["vmdk"],
    ["vmdk", "-o", "subformat=streamOptimized"],
    ["vhdx"],
    ["vhdx", "-o", "block_size=2M"],
  ]) {
    const name = `an image of qemu-img is imported: ${args.join(" ")}`;
    t.test(name, { ...qemu, ...LIMIT }, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "xo-formats-"));
      t.teardown(() => rm(folder, { recursive: true, force: true }));
      await writeFile(join(folder, "raw"), content);
      const convert = ["convert", "-f", "raw", "-O", ...args, "raw", "image"];
      execFileSync("qemu-img", convert, { cwd: folder });
      const image = await readFile(join(folder, "image"));
      const disks = `/srs/${sr!.id}/vdis`;
      const send = (path: string, method: string, bytes: Buffer) => {
        const headers = { "content-type": "application/octet-stream" };
        const body = new Uint8Array(bytes);
        return admin.fetch(path, { method, headers, body });
      };
      const idOf = async (answer: Response) =>
        ((await answer.json()) as Row).id;
      const readDisk = async (disk: string) => {
        const answer = await admin.fetch(`/vdis/${disk}.raw`);
        return Buffer.from(await answer.arrayBuffer());
      };
      const created = await send(disks, "POST", image);
      t.equal(created.status, 201, await created.clone().text());
      t.ok((await readDisk(await idOf(created))).equals(content));

      const noise = randomBytes(content.length);
      const old = await idOf(await send(`${disks}?raw=true`, "POST", noise));
      const written = await send(`/vdis/${old}.${args[0]}`, "PUT", image);
      t.equal(written.status, 204, await written.text());
      const isSame = (await readDisk(old)).equals(content);
      t.ok(isSame, "what the image does not have is overwritten as well");

      const half = image.subarray(0, image.length >> 1);
      const cut = await send(disks, "POST", half);
      t.equal(cut.status, 422);
      t.match(await cut.text(), /incomplete|is cut/);
    });
  }

  t.test(
    "a user without the right to export the disk is refused",
    async (t) => {
      const viewer = await addUser("ann", { [id]: "viewer" });
      const { status } = await viewer.fetch(`/vdis/${id}.qcow2`);
      t.equal(status, 403);
    },
  );

  t.test("the task of an export ends with its bytes", async (t) => {
    const tasks = await list("tasks", '"Export of round.qcow2"');
    t.match(tasks[0], { status: "success", result: { bytes: Number } });
  });
});
