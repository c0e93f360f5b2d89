import { connect } from "node:net";
import t from "tap";
import {
  change,
  changesSince,
  disksOf,
  guestOf,
  outcome,
  picture,
  placesOf,
  startSide,
  type Side,
} from "./support/two-pools.js";

async function exported(
  { pool, client }: Side,
  vm: string,
  compression = "false",
): Promise<Buffer> {
  const answer = await fetch(
    `${pool.url}/export?ref=${vm}&use_compression=${compression}&session_id=${client.session}`,
  );
  return Buffer.from(await answer.arrayBuffer());
}

/** Sends an archive, or `length` bytes of it before the connection breaks. @returns the task's record */
async function imported(
  { pool, client, db }: Side,
  archive: Buffer,
  { length = archive.length, query = "" } = {},
) {
  const task = (await client.call("task.create", "import", "")) as string;
  const { hostname, port } = new URL(pool.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined).resume();
  socket.write(
    `PUT /import?session_id=${client.session}&task_id=${task}${query} HTTP/1.1\r\nContent-Length: ${archive.length}\r\n\r\n`,
  );
  socket.write(archive.subarray(0, length), () => {
    if (length < archive.length) socket.destroy();
  });
  const record = await outcome(db, task);
  socket.destroy();
  return record;
}

function vmIn(result: unknown): string {
  return /OpaqueRef:[-0-9a-f]+/.exec(result as string)![0];
}

async function firstBytes({ pool, client }: Side, vdi: string) {
  const answer = await fetch(
    `${pool.url}/export_raw_vdi?vdi=${vdi}&session_id=${client.session}`,
  );
  const reader = answer.body!.getReader() as {
    read(): Promise<{ value?: Uint8Array }>;
    cancel(): Promise<void>;
  };
  const { value } = await reader.read();
  await reader.cancel();
  return Buffer.from(value!.subarray(0, 4096));
}

for (const compression of ["false", "true", "gzip", "zstd"])
  t.test(
    `a VM is exported and imported with its disks, use_compression=${compression}`,
    async (t) => {
      const from = await startSide(t, { seed: 3 });
      const to = await startSide(t, { seed: 4 });
      const vm = guestOf(from, "Halted");
      const [disk] = disksOf(from.db, from.db.get("VM", vm));
      const written = Buffer.alloc(4096, "mine");
      const put = await fetch(
        `${from.pool.url}/import_raw_vdi?vdi=${disk}&session_id=${from.client.session}`,
        { method: "PUT", body: written },
      );
      await put.arrayBuffer();
      const archive = await exported(from, vm, compression);
      const { status, result } = await imported(to, archive);
      t.equal(status, "success");
      const copy = to.db.get("VM", vmIn(result));
      t.match(copy, {
        name_label: from.db.get("VM", vm)["name_label"],
        power_state: "Halted",
        current_operations: {},
      });
      t.not(copy["uuid"], from.db.get("VM", vm)["uuid"]);
      t.ok((copy["allowed_operations"] as string[]).includes("start"));
      const disks = disksOf(to.db, copy);
      t.equal(disks.length, disksOf(from.db, from.db.get("VM", vm)).length);
      t.strictSame(await firstBytes(to, disks[0]!), written);
    },
  );

t.test("packed archives are smaller, and begin as such", async (t) => {
  const side = await startSide(t);
  const vm = guestOf(side, "Halted");
  const plain = await exported(side, vm);
  const gzip = await exported(side, vm, "true");
  const zstd = await exported(side, vm, "zstd");
  t.ok(gzip.length < plain.length && zstd.length < plain.length);
  t.equal(gzip.toString("hex", 0, 2), "1f8b");
  t.equal(zstd.toString("hex", 0, 4), "28b52ffd");
});

t.test("an aborted upload leaves nothing, and its task fails", async (t) => {
  const side = await startSide(t);
  const archive = await exported(side, guestOf(side, "Halted"));
  const before = picture(side.db);
  // In ova.xml; within a block; at the end of one; before the end marker.
  for (const length of [
    1000,
    archive.length - 600_000,
    archive.length - 2048,
    archive.length - 1024,
  ]) {
    const { status, error_info } = await imported(side, archive, { length });
    t.equal(status, "failure", `after ${length} bytes`);
    t.match((error_info as string[]).join(" "), /IMPORT_ERROR_PREMATURE_EOF/);
    t.strictSame(changesSince(before, side.db), []);
  }
});

t.test("during an import the VM exists, and allows no operation", async (t) => {
  const side = await startSide(t);
  const { db, client } = side;
  const archive = await exported(side, guestOf(side, "Halted"));
  const vms = db.count("VM");
  const coming = change(db, () => db.count("VM") > vms);
  const over = imported(side, archive, { length: archive.length - 2048 });
  await coming;
  const vm = [...db.refs("VM")].at(-1)!;
  if (db.find("VM", vm) !== undefined)
    await t.rejects(client.call("VM.start", vm, false, false), {
      message: /^(OTHER_OPERATION_IN_PROGRESS VM \S+ import|HANDLE_INVALID)/,
    });
  t.equal((await over)["status"], "failure");
  t.equal(db.count("VM"), vms);
});

t.test("an SR that fills up leaves nothing behind", async (t) => {
  const side = await startSide(t);
  const { db } = side;
  const archive = await exported(side, guestOf(side, "Halted"));
  const { sr } = placesOf(side);
  db.update("SR", sr, { physical_size: 1, physical_utilisation: 1 });
  const before = picture(db);
  const { error_info } = await imported(side, archive, {
    query: `&sr_id=${sr}`,
  });
  t.match((error_info as string[]).join(" "), /SR_FULL/);
  t.strictSame(changesSince(before, db), []);
});

t.test("a file that is not an archive is refused", async (t) => {
  const side = await startSide(t);
  const before = picture(side.db);
  const { error_info } = await imported(side, Buffer.alloc(4096, "x"));
  t.match((error_info as string[]).join(" "), /IMPORT_ERROR/);
  t.strictSame(changesSince(before, side.db), []);
});

t.test(
  "an image in a drive is found by its uuid, and not created",
  async (t) => {
    const side = await startSide(t);
    const { db } = side;
    const drive = [...db.records("VBD")].find(
      ([, vbd]) =>
        vbd["type"] === "CD" &&
        vbd["empty"] === false &&
        db.get("VM", vbd["VM"] as string)["power_state"] === "Halted",
    );
    if (drive === undefined) {
      t.comment("no halted VM has an image in its drive");
      return;
    }
    const [, vbd] = drive;
    const archive = await exported(side, vbd["VM"] as string);
    const { result } = await imported(side, archive);
    const images = (db.get("VM", vmIn(result))["VBDs"] as string[])
      .map((ref) => db.get("VBD", ref))
      .filter(({ type }) => type === "CD");
    t.equal(images[0]!["VDI"], vbd["VDI"]);
  },
);
