import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { versionOf } from "./disk-client.js";
import { NbdClient, named, uint32 } from "./support/nbd-client.js";
import { guestOf, disksOf, startSide, type Side } from "./support/two-pools.js";

const run = promisify(execFile);
const KiB64 = 64 * 1024;
const MiB = 2 ** 20;
const SIZE = 8 * MiB;
const ERROR = 2 ** 31;

interface NbdInfo {
  readonly exportname: string;
  readonly address: string;
  readonly port: number;
  readonly cert: string;
  readonly subject: string;
}

/** A pool with a disk of 8 MiB, of which one has data. `plain`: without TLS. */
async function startDisk(t: Test, { plain = false } = {}) {
  const side = await startSide(t, { hosts: 2, vms: 8, seed: 5 });
  const { db, client, pool } = side;
  if (plain) setPurpose(side, "insecure_nbd");
  const [sr] = [...db.records("SR")].find(([, { type }]) => type === "nfs")!;
  const vdi = (await client.call("VDI.create", {
    SR: sr,
    virtual_size: SIZE,
    type: "user",
    name_label: "a disk",
    name_description: "",
    sharable: false,
    read_only: false,
    other_config: {},
  })) as string;
  await pool.guests.write(vdi, {
    pattern: "sequential",
    bytes: MiB + 100,
    length: 4 * MiB,
  });
  const expected = Buffer.alloc(SIZE);
  pool.disks.read(db.get("VDI", vdi)["uuid"] as string, 0, expected);
  const infos = (await client.call("VDI.get_nbd_info", vdi)) as NbdInfo[];
  return { ...side, vdi, sr, expected, infos, info: infos[0]! };
}

function setPurpose({ db }: Side, ...purpose: string[]): void {
  for (const [ref, network] of db.records("network"))
    if ((network["purpose"] as string[]).length > 0)
      db.update("network", ref, { purpose });
}

async function connectTo(t: Test, { address, port }: NbdInfo) {
  const client = await NbdClient.open(address, port);
  t.teardown(() => client.close());
  return client;
}

/** Connected over TLS, with structured replies, at the export. */
async function openDisk(t: Test, info: NbdInfo) {
  const client = await connectTo(t, info);
  await client.startTls(info.cert);
  await client.structured(info.exportname);
  const replies = await client.go(info.exportname);
  t.equal(replies.at(-1)!.type, 1);
  return client;
}

t.test("where a disk is offered", async (t) => {
  const disk = await startDisk(t);
  const { client, db, vdi, infos } = disk;
  t.equal(infos.length, 1, "hosts without a listener: at the coordinator");
  t.match(infos[0], {
    address: "127.0.0.1",
    subject: "localhost",
    cert: /^-----BEGIN CERTIFICATE-----/,
    exportname: `/${db.get("VDI", vdi)["uuid"] as string}?session_id=${client.session}`,
  });
  t.type(infos[0]!.port, "number");
  setPurpose(disk);
  t.strictSame(await client.call("VDI.get_nbd_info", vdi), []);
  db.update("VDI", vdi, { type: "cbt_metadata" });
  await t.rejects(client.call("VDI.get_nbd_info", vdi), {
    message: /VDI_INCOMPATIBLE_TYPE/,
  });
});

t.test("members have servers of their own", async (t) => {
  const side = await startSide(t, { hosts: 3, vms: 6, members: 2 });
  const [vdi] = [...side.db.records("VDI")].find(
    ([, { SR, type }]) =>
      type === "user" && side.db.get("SR", SR as string)["shared"] === true,
  )!;
  const infos = (await side.client.call("VDI.get_nbd_info", vdi)) as NbdInfo[];
  t.equal(new Set(infos.map(({ address }) => address)).size, 3);
});

t.test("nothing but STARTTLS before TLS", async (t) => {
  const { info } = await startDisk(t);
  const client = await connectTo(t, info);
  for (const number of [3, 6, 7, 8])
    t.equal(
      (await client.option(number))[0]!.type,
      ERROR + 5,
      `option ${number}`,
    );
  await client.startTls(info.cert);
  t.equal(
    (await client.option(3))[0]!.type,
    ERROR + 2,
    "exports are not listed",
  );
  t.equal((await client.option(5))[0]!.type, ERROR + 3, "TLS is on already");
  t.equal((await client.option(99))[0]!.type, ERROR + 1);
  const plain = await connectTo(t, info);
  plain.send(
    Buffer.concat([
      Buffer.from("IHAVEOPT"),
      uint32(1, Buffer.byteLength(info.exportname)),
      Buffer.from(info.exportname),
    ]),
  );
  await plain.ended();
});

t.test("the session and the disk of an export are checked", async (t) => {
  const disk = await startDisk(t);
  const { info, db, client: xapi, pool } = disk;
  const client = await connectTo(t, info);
  await client.startTls(info.cert);
  const [, uuid, session] = /^\/(.*)\?session_id=(.*)$/.exec(info.exportname)!;
  const running = disksOf(db, db.get("VM", guestOf(disk, "Running")))[0]!;
  const used = db.get("VDI", running)["uuid"] as string;
  for (const name of [
    "",
    `/${uuid}`,
    `/${uuid}?session_id=OpaqueRef:x`,
    `/x?session_id=${session}`,
    `/${used}?session_id=${session}`,
  ])
    t.equal((await client.go(name))[0]!.type, ERROR + 6, name);
  await xapi.call("session.logout");
  t.equal((await client.go(info.exportname))[0]!.type, ERROR + 6, "logged out");
  t.equal(pool.database.find("session", session!), undefined);
});

t.test("a disk is read over TLS, with holes and block status", async (t) => {
  const { info, expected, pool, db, vdi } = await startDisk(t);
  const client = await openDisk(t, info);
  t.ok((await client.read(0, SIZE)).equals(expected));
  t.ok(
    (await client.read(MiB - 3, 12345)).equals(
      expected.subarray(MiB - 3, MiB - 3 + 12345),
    ),
  );
  client.request(7, 0, SIZE);
  const [status] = (await client.reply()).chunks;
  t.equal(status!.type, 5);
  const extents = pool.disks.extents(db.get("VDI", vdi)["uuid"] as string);
  t.strictSame(
    status!.data.subarray(4),
    uint32(
      ...extents.flatMap(({ length, kind }) => [
        length,
        kind === "data" ? 0 : 3,
      ]),
    ),
  );
  client.request(7, 0, SIZE, { flags: 8 });
  t.equal((await client.reply()).chunks[0]!.data.length, 12, "one extent");
  client.request(0, 0, 2 * MiB, { flags: 4 });
  t.equal((await client.reply()).chunks.length, 1, "not fragmented");
});

t.test("plain NBD with EXPORT_NAME and simple replies", async (t) => {
  const { info, expected, pool } = await startDisk(t, { plain: true });
  pool.faults.set("nbdPlain", true);
  const client = await connectTo(t, info);
  t.equal((await client.go(info.exportname))[0]!.type, ERROR + 1);
  t.equal((await client.option(8))[0]!.type, ERROR + 1);
  client.send(
    Buffer.concat([
      Buffer.from("IHAVEOPT"),
      uint32(1, Buffer.byteLength(info.exportname)),
      Buffer.from(info.exportname),
    ]),
  );
  const head = await client.take(10);
  t.equal(Number(head.readBigUInt64BE()), SIZE);
  t.equal(head.readUInt16BE(8) & 3, 3, "read only");
  t.ok((await client.read(0, SIZE)).equals(expected));
});

t.test("writes are refused, and reading continues", async (t) => {
  const { info, expected } = await startDisk(t);
  const client = await openDisk(t, info);
  client.request(1, 0, 512, { data: Buffer.alloc(512, 1) });
  t.equal((await client.reply()).error, 1, "write: EPERM");
  for (const type of [4, 6]) {
    client.request(type, 0, 512);
    t.equal((await client.reply()).error, 1, `command ${type}: EPERM`);
  }
  for (const [offset, length] of [
    [SIZE, 1],
    [SIZE - 1, 2],
    [0, 0],
    [0, 33 * MiB],
  ] as const) {
    client.request(0, offset, length);
    t.equal((await client.reply()).error, 22, `${length} at ${offset}: EINVAL`);
  }
  t.ok((await client.read(0, MiB)).equals(expected.subarray(0, MiB)));
});

t.test(
  "the disk is attached to domain 0 while a client is connected",
  async (t) => {
    const { info, client: xapi, db, vdi } = await startDisk(t);
    const clients = await Promise.all([1, 2, 3].map(() => openDisk(t, info)));
    const vbds = () => db.get("VDI", vdi)["VBDs"] as string[];
    t.equal(vbds().length, 3);
    for (const vbd of vbds()) {
      const { VM, mode } = db.get("VBD", vbd);
      t.equal(mode, "RO");
      t.equal(db.get("VM", VM as string)["is_control_domain"], true);
    }
    await t.rejects(xapi.call("VDI.destroy", vdi), { message: /VDI_IN_USE/ });
    const reads = await Promise.all(
      clients.map((client, i) => client.read(i * KiB64, 2 * MiB)),
    );
    t.equal(reads.length, 3);
    for (const client of clients) client.close();
    while (vbds().length > 0)
      await new Promise((resolve) => setImmediate(resolve));
    await xapi.call("VDI.destroy", vdi);
  },
);

t.test(
  "data_destroy waits for a client that closes its connection",
  async (t) => {
    const { client: xapi, db, vdi, info } = await startDisk(t);
    await xapi.call("VDI.enable_cbt", vdi);
    const snapshot = (await xapi.call("VDI.snapshot", vdi, {})) as string;
    const uuid = db.get("VDI", snapshot)["uuid"] as string;
    const exportname = info.exportname.replace(/[^/?]{36}/, uuid);
    const client = await openDisk(t, { ...info, exportname });
    const destroyed = xapi.call("VDI.data_destroy", snapshot);
    client.close();
    await destroyed;
    t.equal(db.get("VDI", snapshot)["type"], "cbt_metadata");
    const again = await connectTo(t, info);
    await again.startTls(info.cert);
    t.equal(
      (await again.go(exportname))[0]!.type,
      ERROR + 6,
      "no data any more",
    );
  },
);

t.test("faults of NBD", async (t) => {
  const { info, expected, pool } = await startDisk(t);
  const { faults } = pool;
  faults.set("nbdError", { value: true, times: 1 });
  const client = await openDisk(t, info);
  await t.rejects(client.read(0, 10), { message: "error 5" });
  t.ok((await client.read(0, MiB)).equals(expected.subarray(0, MiB)), "once");

  faults.set("bitFlip", { value: 5, method: "nbd", times: 1 });
  const flipped = await openDisk(t, info);
  const extents = pool.disks.extents(info.exportname.slice(1, 37));
  const data = extents.find(({ kind }) => kind === "data")!.offset;
  const wrong = Buffer.from(expected.subarray(data, data + 100));
  wrong[5]! ^= 1;
  t.ok((await flipped.read(data, 100)).equals(wrong));

  faults.set("cut", { value: 1000, method: "nbd", times: 1 });
  const cut = await openDisk(t, info);
  await t.rejects(cut.read(data, KiB64), { message: "the server has gone" });

  faults.set("stall", { value: 1000, method: "nbd", times: 1 });
  const stalled = await openDisk(t, info);
  stalled.request(0, data, KiB64);
  while (stalled.receivedBytes < 20 + 8 + 1000)
    await new Promise((resolve) => setImmediate(resolve));
  t.equal(stalled.receivedBytes, 20 + 8 + 1000);
  stalled.close();

  faults.set("drop", { value: true, method: "nbd", times: 1 });
  await t.rejects(NbdClient.open(info.address, info.port), {
    message: "the server has gone",
  });
  faults.set("delay", { value: 30, method: "nbd", times: 1 });
  const start = performance.now();
  await client.read(0, 1);
  t.ok(performance.now() - start >= 29);
  faults.set("hang", { value: true, method: "nbd", times: 1 });
  client.request(0, 0, 1);
  await pool.stop();
  await client.ended();
});

t.test("a host that is lost ends its connections", async (t) => {
  const { info, pool, db } = await startDisk(t);
  const client = await openDisk(t, info);
  const [, { master }] = [...db.records("pool")][0]!;
  pool.lose(master as string, { crash: true });
  await client.ended();
});

t.test("requests that are none end the connection", async (t) => {
  const { info } = await startDisk(t);
  const client = await openDisk(t, info);
  client.send(Buffer.alloc(28, 7));
  await client.ended();
  const odd = await connectTo(t, info);
  odd.send(Buffer.alloc(16, 7));
  await odd.ended();
  const meta = await connectTo(t, info);
  await meta.startTls(info.cert);
  const query = Buffer.concat([named(info.exportname), uint32(0)]);
  t.equal((await meta.option(9, query))[0]!.type, ERROR + 3, "not structured");
  await meta.option(8);
  t.equal(
    (await meta.option(9, query))[0]!.data.toString("latin1", 4),
    "base:allocation",
  );
  t.equal((await meta.option(9, Buffer.alloc(3)))[0]!.type, ERROR + 3);
  t.equal((await meta.option(7, uint32(99)))[0]!.type, ERROR + 3);
});

for (const plain of [true, false])
  t.test(
    `nbdinfo, nbdcopy and qemu-img read the same, ${plain ? "without" : "with"} TLS`,
    {
      skip: ["nbdinfo", "nbdcopy", "qemu-img"].some(
        (tool) => versionOf(tool) === undefined,
      )
        ? "nbdinfo, nbdcopy or qemu-img is not installed"
        : false,
    },
    async (t) => {
      const { info, expected } = await startDisk(t, { plain });
      const folder = mkdtempSync(join(tmpdir(), "xapi-sim-nbd-"));
      t.teardown(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, "ca-cert.pem"), info.cert);
      const name = encodeURIComponent(info.exportname);
      const { port } = info;
      const uri = plain
        ? `nbd://127.0.0.1:${port}/${name}`
        : `nbds://localhost:${port}/${name}?tls-certificates=${folder}`;
      const about = JSON.parse(
        (await run("nbdinfo", ["--json", uri])).stdout,
      ) as { TLS: boolean; exports: { "export-size": number }[] };
      t.equal(about.TLS, !plain);
      t.equal(about.exports[0]!["export-size"], SIZE);
      const raw = join(folder, "disk.raw");
      await run("nbdcopy", ["--connections=4", uri, raw]);
      t.ok(readFileSync(raw).equals(expected), "nbdcopy");
      const options = plain
        ? `driver=nbd,host=127.0.0.1,port=${port},export=${info.exportname}`
        : `driver=nbd,host=localhost,port=${port},export=${info.exportname},tls-creds=tls`;
      const tls = plain
        ? []
        : ["--object", `tls-creds-x509,id=tls,endpoint=client,dir=${folder}`];
      const { stdout } = await run("qemu-img", [
        "compare",
        ...tls,
        "--image-opts",
        options,
        `driver=raw,file.driver=file,file.filename=${raw}`,
      ]);
      t.match(stdout, "Images are identical");
    },
  );
