import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import t, { type Test } from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");

/** Disks are multiples of 2 MiB, as on real SRs. */
const MiB = 2 ** 20;

interface Offer {
  readonly $getFrom: string;
  readonly $sendTo: string;
}

const digest = (bytes: Uint8Array) =>
  createHash("sha256").update(bytes).digest("hex");

t.test("bytes go in and out of pools", LIMIT, async (t) => {
  const shared = await setUp(t);
  const { send, read, list, pool, sr } = shared;

  t.test("raw contents are exported as imported", (t) =>
    rawContents(t, shared),
  );

  t.test(
    "images of other formats are refused as raw contents, unless any content is requested",
    (t) => imagesAsRaw(t, shared),
  );

  t.test("impossible requests are refused before a disk is created", (t) =>
    impossibleRequests(t, shared),
  );

  t.test("an aborted upload leaves no disk behind", (t) =>
    abortedUpload(t, shared),
  );

  t.test("a VM is exported and imported as a new one", (t) =>
    exportAndImport(t, shared),
  );

  for (const padding of [0, 8 * 1024, 3 * MiB])
    t.test(
      `an archive whose last ${1024 + padding} bytes the pool does not read is imported once`,
      async (t) => {
        const [vm] = await list("vms", "power_state:Halted");
        const named = () =>
          list("vms", `name_label:${String(vm!["name_label"])}`).then(
            (all) => all.length,
          );
        const before = await named();
        const xva = await read(`/vms/${vm!.id}.xva`);
        const created = await send(
          `/pools/${pool!.id}/vms?sr=${sr!.id}`,
          Buffer.concat([xva, Buffer.alloc(padding)]),
        );
        t.equal(created.status, 201, await created.clone().text());
        t.equal(await named(), before + 1);
      },
    );

  t.test(
    "a running VM is exported from a snapshot, which is deleted afterwards",
    (t) => exportOfRunningVm(t, shared),
  );

  t.test("the rest of a snapshot can be requested separately", (t) =>
    restOfSnapshot(t, shared),
  );

  t.test("paths of the JSON-RPC API work once, without a cookie", (t) =>
    oneTimePaths(t, shared),
  );

  t.test("without the right there is no path", (t) =>
    pathsWithoutRight(t, shared),
  );

  t.test("a pool that disconnects ends its streams", (t) =>
    disconnectedPool(t, shared),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const [sr] = await list("srs", "SR_type:nfs");
  const [pool] = await list("pools");
  const vdis = `/srs/${sr!.id}/vdis`;
  const octets = { "content-type": "application/octet-stream" };
  const send = (path: string, body: Buffer<ArrayBuffer>, method = "POST") =>
    admin.fetch(path, { method, body, headers: octets });
  const read = async (path: string) =>
    Buffer.from(await (await admin.fetch(path)).arrayBuffer());
  return { send, vdis, admin, read, list, pool, sr, url, octets, bench };
}

async function rawContents(t: Test, { send, vdis, admin, read }: Bench) {
  const bytes = randomBytes(6 * MiB);
  const created = await send(`${vdis}?raw=true&name_label=round`, bytes);
  t.equal(created.status, 201);
  const { id } = (await created.json()) as Row;
  t.equal(created.headers.get("location"), `/rest/v0/vdis/${id}`);
  const { body } = await admin.rest("GET", `/vdis/${id}`);
  t.match(body, { name_label: "round", size: 6 * MiB });
  const answer = await admin.fetch(`/vdis/${id}.raw`);
  t.equal(answer.headers.get("content-length"), String(6 * MiB));
  t.match(answer.headers.get("content-disposition"), /round\.raw$/);
  t.equal(digest(Buffer.from(await answer.arrayBuffer())), digest(bytes));

  const vhd = await read(`/vdis/${id}.vhd`);
  t.equal(vhd.toString("latin1", 0, 8), "conectix");
  const again = await send(`${vdis}?name_label=again`, vhd);
  t.equal(again.status, 201);
  const copy = ((await again.json()) as Row).id;
  const raw = await read(`/vdis/${copy}.raw`);
  t.equal(digest(raw), digest(bytes), "by way of a VHD, too");

  const other = randomBytes(6 * MiB);
  const put = await send(`/vdis/${copy}.raw`, other, "PUT");
  t.equal(put.status, 204, await put.text());
  t.equal(digest(await read(`/vdis/${copy}.raw`)), digest(other));
}

async function imagesAsRaw(
  t: Test,
  { send, vdis, admin, read, list, url, sr }: Bench,
) {
  const imageOf = (text: string, size = 4096) => {
    const image = randomBytes(size);
    image.write(text, "latin1");
    return image;
  };
  const before = (await list("vdis")).length;
  const blank = await send(
    `${vdis}?raw&name_label=blank`,
    Buffer.alloc(2 * MiB),
  );
  const { id } = (await blank.json()) as Row;
  for (const [text, format] of [
    ["QFI\u00fb", "qcow2"],
    ["KDMV", "VMDK"],
    ["# Disk DescriptorFile\nversion=1", "VMDK"],
    ["conectix", "VHD"],
    ["vhdxfile", "VHDX"],
    ["<<< Oracle VM VirtualBox Disk Image >>>\n", "VirtualBox"],
  ] as const) {
    const created = await send(`${vdis}?raw&name_label=image`, imageOf(text));
    t.equal(created.status, 422, format);
    // The server converts images of the others: these are damaged.
    const isRefused = ["VHD", "VirtualBox"].includes(format);
    const reason = isRefused ? `${format}.*anyContent` : `${format}: |image`;
    t.match(await created.text(), new RegExp(reason));
    const put = await send(`/vdis/${id}.raw`, imageOf(text), "PUT");
    t.equal(put.status, 422, `${format} over a disk`);
  }
  const params = { name: "image", sr: sr!.id, type: "iso" };
  const { $sendTo } = await admin.request<Offer>("disk.import", params);
  const body = imageOf("QFI\u00fb");
  const sent = await fetch(url + $sendTo, { method: "POST", body });
  t.equal(sent.status, 422, "over JSON-RPC");
  t.equal((await list("vdis")).length, before + 1, "no disk is created");
  t.ok((await read(`/vdis/${id}.raw`)).every((byte) => byte === 0));

  const image = imageOf("QFI\u00fb", 2 * MiB);
  const put = await send(`/vdis/${id}.raw?anyContent=true`, image, "PUT");
  t.equal(put.status, 204, await put.text());
  t.equal(digest(await read(`/vdis/${id}.raw`)), digest(image));
  const created = await send(`${vdis}?raw&anyContent&name_label=any`, image);
  t.equal(created.status, 201, await created.text());
}

async function impossibleRequests(
  t: Test,
  { list, vdis, pool, sr, send, admin }: Bench,
) {
  const before = (await list("vdis")).length;
  const cases: [string, Buffer<ArrayBuffer>, number][] = [
    [`${vdis}?name_label=x`, randomBytes(4096), 422],
    [`${vdis}?name_label=x`, Buffer.alloc(0), 422],
    [`${vdis}?raw=perhaps`, randomBytes(512), 422],
    [`/pools/${pool!.id}/vms?sr=${sr!.id}`, randomBytes(4096), 422],
    [`/pools/${pool!.id}/vms?sr=absent`, randomBytes(4096), 404],
    [`/srs/absent/vdis?raw=true`, randomBytes(512), 404],
  ];
  for (const [path, body, status] of cases) {
    const answer = await send(path, body);
    t.equal(answer.status, status, `${path}: ${await answer.text()}`);
  }
  const { id } = (await list("vdis", "name_label:round"))[0]!;
  const large = await send(`/vdis/${id}.raw`, Buffer.alloc(8 * MiB), "PUT");
  t.equal(large.status, 422, await large.text());
  const odd = await admin.fetch(`/vdis/${id}.png`);
  t.equal(odd.status, 422, await odd.text());
  t.equal((await list("vdis")).length, before);
}

async function abortedUpload(
  t: Test,
  { url, vdis, octets, admin, list }: Bench,
) {
  const upload = request(`${url}/rest/v0${vdis}?raw&name_label=cut`, {
    method: "POST",
    headers: {
      ...octets,
      cookie: admin.cookie,
      "content-length": 64 * MiB,
    },
  });
  upload.on("error", () => undefined);
  upload.write(randomBytes(4 * MiB));
  while ((await list("vdis", "name_label:/^cut$/")).length === 0) continue;
  t.pass("it is there while it is being filled");
  upload.destroy();
  while ((await list("vdis", "name_label:/^cut$/")).length > 0) continue;
  const tasks = await list("tasks", '"Import of cut"');
  t.match(tasks, [{ status: "failure" }]);
}

async function exportAndImport(
  t: Test,
  { list, admin, send, pool, sr }: Bench,
) {
  const [vm] = await list("vms", "power_state:Halted");
  const answer = await admin.fetch(`/vms/${vm!.id}.xva?compress=gzip`);
  t.equal(answer.status, 200);
  const xva = Buffer.from(await answer.arrayBuffer());
  t.equal(xva.readUInt16BE(0), 0x1f8b);
  const created = await send(`/pools/${pool!.id}/vms?sr=${sr!.id}`, xva);
  t.equal(created.status, 201, created.headers.get("location") ?? "");
  const { id } = (await created.json()) as Row;
  t.not(id, vm!.id);
  const { body } = await admin.rest("GET", `/vms/${id}`);
  t.match(body, { name_label: vm!["name_label"], power_state: "Halted" });
}

async function exportOfRunningVm(
  t: Test,
  { list, read, send, pool, sr, admin }: Bench,
) {
  const [vm] = await list("vms", "power_state:Running");
  const snapshots = () =>
    list("vm-snapshots", `$snapshot_of:${vm!.id}`).then((all) => all.length);
  const disks = () => list("vdi-snapshots").then((all) => all.length);
  const before = [await snapshots(), await disks()];
  const xva = await read(`/vms/${vm!.id}.xva?compress=gzip`);
  const created = await send(`/pools/${pool!.id}/vms?sr=${sr!.id}`, xva);
  t.equal(created.status, 201, await created.clone().text());
  const { id } = (await created.json()) as Row;
  t.match((await admin.rest("GET", `/vms/${id}`)).body, {
    type: "VM",
    name_label: vm!["name_label"],
    power_state: "Halted",
  });
  t.match((await admin.rest("GET", `/vms/${vm!.id}`)).body, {
    power_state: "Running",
  });
  while ((await snapshots()) > before[0]!) continue;
  while ((await disks()) > before[1]!) continue;

  const cut = await admin.fetch(`/vms/${vm!.id}.xva`);
  t.equal(cut.status, 200);
  await cut.body!.cancel();
  while ((await snapshots()) > before[0]!) continue;
  while ((await disks()) > before[1]!) continue;
}

async function restOfSnapshot(t: Test, { list, admin }: Bench) {
  const [snapshot] = await list(
    "vdi-snapshots",
    "size:>1048576 size:<100000000000",
  );
  const path = `/vdi-snapshots/${snapshot!.id}.raw`;
  const whole = await admin.fetch(path);
  t.equal(whole.headers.get("accept-ranges"), "bytes");
  const etag = whole.headers.get("etag")!;
  await whole.body!.cancel();
  const size = Number(snapshot!["size"]);
  const headers = { range: `bytes=${size - 1000}-`, "if-range": etag };
  const rest = await admin.fetch(path, { headers });
  t.equal(rest.status, 206);
  t.equal((await rest.arrayBuffer()).byteLength, 1000);
  const [vdi] = await list("vdis", "name_label:round");
  const all = await admin.fetch(`/vdis/${vdi!.id}.raw`, { headers });
  t.equal(all.status, 200, "of what may change meanwhile all is sent");
  t.equal((await all.arrayBuffer()).byteLength, vdi!["size"]);
}

async function oneTimePaths(t: Test, { list, admin, url, sr }: Bench) {
  const [vm] = await list("vms", "power_state:Halted");
  const { $getFrom } = await admin.request<Offer>("vm.export", {
    vm: vm!.id,
  });
  t.match($getFrom, /^\/api\/[\w-]{43}\/.+\.xva$/);
  t.equal((await fetch(url + $getFrom, { method: "POST" })).status, 404);
  const xva = await (await fetch(url + $getFrom)).arrayBuffer();
  t.equal(Buffer.from(xva).toString("latin1", 0, 7), "ova.xml");
  t.equal((await fetch(url + $getFrom)).status, 404);

  const post = async (path: string, body: BodyInit) => {
    const answer = await fetch(url + path, { method: "POST", body });
    return (await answer.json()) as { result: string };
  };
  const way = await admin.request<Offer>("vm.import", {
    sr: sr!.id,
  });
  const { result } = await post(way.$sendTo, xva);
  t.match((await list("vms", `id:${result}`))[0], {
    name_label: vm!["name_label"],
  });

  const bytes = randomBytes(2 * MiB);
  const disk = await admin.request<Offer>("disk.import", {
    name: "rpc",
    sr: sr!.id,
    type: "raw",
  });
  const { result: id } = await post(disk.$sendTo, bytes);
  const content = await admin.request<Offer>("disk.exportContent", {
    id,
    format: "raw",
  });
  const back = await (await fetch(url + content.$getFrom)).arrayBuffer();
  t.equal(digest(Buffer.from(back)), digest(bytes));
  const over = await admin.request<Offer>("disk.importContent", {
    id,
    format: "raw",
  });
  t.match(await post(over.$sendTo, randomBytes(2 * MiB)), { result: true });
}

async function pathsWithoutRight(
  t: Test,
  { list, bench, vdis, url, sr }: Bench,
) {
  const [vm] = await list("vms", "power_state:Halted");
  const [vdi] = await list("vdis", "name_label:rpc");
  const eve = await bench.addUser("eve", {
    [vm!.id]: "operator",
    [vdi!.id]: "viewer",
  });
  for (const path of [`/vdis/${vdi!.id}.raw`, `/vms/${vm!.id}.xva`])
    t.equal((await eve.fetch(path)).status, 403, path);
  const body = randomBytes(512);
  const post = { method: "POST", body };
  const toUnseen = await eve.fetch(`${vdis}?raw=true`, post);
  t.match(String(toUnseen.status), /^40[34]$/, await toUnseen.text());
  const put = { method: "PUT", body };
  t.equal((await eve.fetch(`/vdis/${vdi!.id}.raw`, put)).status, 403);
  t.equal((await fetch(`${url}/rest/v0${vdis}?raw=true`, post)).status, 401);
  for (const [method, params, code] of [
    ["vm.export", { vm: vm!.id }, 2],
    ["disk.exportContent", { id: vdi!.id }, 2],
    ["disk.import", { name: "x", sr: sr!.id, type: "raw" }, 1],
    ["vm.import", { sr: sr!.id }, 1],
  ] as const)
    t.match(await eve.call(method, params), { error: { code } }, method);
}

async function disconnectedPool(
  t: Test,
  { list, admin, url, vdis, octets, bench }: Bench,
) {
  const [vm] = await list("vms", "power_state:Running");
  const { body } = await admin.rest(
    "GET",
    `/vms/${vm!.id}/vdis?fields=id,size`,
  );
  const [{ id }] = body as [Row];
  const download = await admin.fetch(`/vdis/${id}.raw`);
  const reader = download.body!.getReader();
  t.equal((await reader.read()).done, false);
  const upload = request(`${url}/rest/v0${vdis}?raw&name_label=lost`, {
    method: "POST",
    headers: {
      ...octets,
      cookie: admin.cookie,
      "content-length": 64 * MiB,
    },
  });
  upload.on("error", () => undefined);
  upload.write(randomBytes(4 * MiB));
  while ((await list("vdis", "name_label:/^lost$/")).length === 0) continue;
  const answered = once(upload, "response");
  bench.poolProgram.child.kill("SIGKILL");
  await t.rejects(async () => {
    while (!(await reader.read()).done) continue;
  });
  const [{ statusCode }] = (await answered) as [{ statusCode: number }];
  t.ok(statusCode >= 500, String(statusCode));
}
