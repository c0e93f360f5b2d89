import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");

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
