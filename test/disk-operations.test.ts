import t, { type Test } from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const GiB = 2 ** 30;

t.test("disks and storage are worked on", LIMIT, async (t) => {
  const shared = await setUp(t);
  const { admin, list } = shared;

  t.test("a disk is created, changed, migrated and deleted", (t) =>
    lifeOfDisk(t, shared),
  );

  t.test(
    "disks whose changed blocks are tracked are migrated, but not during a backup",
    (t) => migrationOfTrackedDisks(t, shared),
  );

  t.test("REST creates a disk and attaches it to a VM", (t) =>
    creationByRest(t, shared),
  );

  t.test("a disk can be a VM's from the start", (t) =>
    creationForVm(t, shared),
  );

  t.test("snapshots of disks are deleted under their own names", async (t) => {
    const [snapshot] = await list("vdi-snapshots");
    const path = `/vdi-snapshots/${snapshot!.id}`;
    t.equal((await admin.rest("DELETE", path)).status, 204);
    t.equal((await admin.rest("GET", path)).status, 404);
  });

  t.test("SRs are created, connected, scanned and forgotten", (t) =>
    lifeOfSr(t, shared),
  );

  t.test("storage is probed", (t) => probes(t, shared));

  t.test("without a right to an object no operation is allowed", (t) =>
    operationsWithoutRight(t, shared),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const bench = await startStorageBench(t);
  const { admin, list, untilGone } = bench;
  const [nfs] = await list("srs", "SR_type:nfs");
  const [san] = await list("srs", "SR_type:lvmoiscsi");
  const [running] = await list("vms", "power_state:Running");
  const [halted] = await list("vms", "power_state:Halted");
  const [host] = await list("hosts");
  const one = async (folder: string, id: string) =>
    (await admin.rest("GET", `/${folder}/${id}`)).body as Row;
  const act = async (path: string, body: object = {}) => {
    const answer = await admin.rest("POST", `${path}?sync=true`, body);
    return { status: answer.status, body: answer.body as unknown };
  };
  return {
    admin,
    nfs,
    one,
    act,
    san,
    halted,
    host,
    list,
    running,
    untilGone,
    bench,
  };
}

async function lifeOfDisk(t: Test, { admin, nfs, one, act, san }: Bench) {
  const id = await admin.request<string>("disk.create", {
    name: "d",
    size: "2 GiB",
    sr: nfs!.id,
    vm: "",
  });
  t.match(await one("vdis", id), { size: 2 * GiB, name_label: "d" });
  const change = { name_label: "e", size: 3 * GiB, tags: ["x"], cbt: true };
  await admin.request("vdi.set", { id, ...change });
  const { cbt, ...shown } = change;
  t.match(await one("vdis", id), { ...shown, cbt_enabled: cbt });
  const small = await admin.rest("PATCH", `/vdis/${id}`, { size: GiB });
  t.equal(small.status, 422);
  t.match(await admin.call("vdi.set", { id, size: GiB }), {
    error: { code: 10 },
  });
  t.equal(await admin.request("vdi.migrate", { id, sr_id: nfs!.id }), id);
  const moved = await act(`/vdis/${id}/actions/migrate`, { srId: san!.id });
  t.equal(moved.status, 200);
  const { id: now } = moved.body as Row;
  t.match(await one("vdis", now), { $SR: san!.id, name_label: "e" });
  t.equal((await admin.rest("GET", `/vdis/${id}`)).status, 404);
  await admin.request("vdi.delete", { id: now });
  t.equal((await admin.rest("GET", `/vdis/${now}`)).status, 404);
}

async function migrationOfTrackedDisks(
  t: Test,
  { halted, admin, nfs, san, one, host, list }: Bench,
) {
  const vm = halted!.id;
  const create = (name: string) =>
    admin.request<string>("disk.create", {
      name,
      size: GiB,
      sr: nfs!.id,
      vm,
    });
  const first = await create("tracked");
  const second = await create("tracked too");
  for (const id of [first, second])
    await admin.request("vdi.set", { id, cbt: true });
  const block = (reason: string | null) =>
    admin.request("vm.set", {
      id: vm,
      blockedOperations: { migrate_send: reason },
    });
  const migration = { id: first, sr_id: san!.id };
  await block("a backup");
  t.match(await admin.call("vdi.migrate", migration), {
    error: { code: 19, data: { objectId: vm, code: "a backup" } },
  });
  t.match(await one("vdis", first), { cbt_enabled: true });
  await block(null);
  const moved = await admin.request<string>("vdi.migrate", migration);
  t.match(await one("vdis", moved), { $SR: san!.id, cbt_enabled: false });
  await admin.request("vm.migrate", {
    vm,
    targetHost: host!.id,
    mapVdisSrs: { [second]: san!.id },
  });
  const [there] = await list("vdis", 'name_label:"tracked too"');
  t.match(there, { $SR: san!.id, cbt_enabled: false });
  for (const id of [moved, there!.id])
    await admin.request("vdi.delete", { id });
}

async function creationByRest(
  t: Test,
  { nfs, admin, running, one, act }: Bench,
) {
  const params = { srId: nfs!.id, virtual_size: GiB, name_label: "r" };
  const vdi = await admin.rest("POST", "/vdis", params);
  t.equal(vdi.status, 201);
  const { id: VDI } = vdi.body as Row;
  const drive = { VM: running!.id, VDI, bootable: true };
  const vbd = await admin.rest("POST", "/vbds", drive);
  t.equal(vbd.status, 201);
  const { id } = vbd.body as Row;
  t.match(await one("vbds", id), { ...drive, attached: true }, "plugged");
  const inUse = await admin.rest("DELETE", `/vdis/${VDI}`);
  t.equal(inUse.status, 500);
  t.match(inUse.body, { error: /VDI_IN_USE/ });
  t.match(await admin.call("vdi.delete", { id: VDI }), {
    error: { code: 17 },
  });
  await admin.request("vbd.disconnect", { id });
  t.equal((await act(`/vbds/${id}/actions/disconnect`)).status, 204, "twice");
  await admin.request("vbd.setBootable", { vbd: id, bootable: false });
  t.match(await one("vbds", id), { attached: false, bootable: false });
  t.equal((await act(`/vbds/${id}/actions/connect`)).status, 204);
  t.equal((await admin.rest("DELETE", `/vbds/${id}`)).status, 204);
  t.equal((await admin.rest("DELETE", `/vdis/${VDI}`)).status, 204);
  t.equal((await admin.rest("GET", `/vdis/${VDI}`)).status, 404);
  const task = await admin.rest("POST", `/vbds/${id}/actions/connect`);
  t.equal(task.status, 404);
}

async function creationForVm(
  t: Test,
  { halted, admin, nfs, list, untilGone, one }: Bench,
) {
  const place = { vm: halted!.id, mode: "RO", position: "9" };
  const id = await admin.request<string>("disk.create", {
    name: "own",
    size: GiB,
    sr: nfs!.id,
    ...place,
  });
  const [vbd] = await list("vbds", `VDI:${id}`);
  t.match(vbd, { VM: halted!.id, position: "9", read_only: true });
  const again = { name: "two", size: GiB, sr: nfs!.id, ...place };
  t.match(await admin.call("disk.create", again), {
    error: { message: /DEVICE_ALREADY_EXISTS/ },
  });
  await untilGone("vdis", "name_label:/^two$/");
  await admin.request("vbd.set", { id: vbd!.id, position: 8 });
  t.match(await one("vbds", vbd!.id), { position: "8" });
  t.match(await admin.call("vbd.connect", { id: vbd!.id }), {
    error: { code: 13, data: { actual: "halted" } },
  });
}

async function lifeOfSr(t: Test, { admin, host, one, act, list, nfs }: Bench) {
  const id = await admin.request<string>("sr.createNfs", {
    host: host!.id,
    nameLabel: "share",
    nameDescription: "",
    server: "192.0.2.9",
    serverPath: "/export",
  });
  const sr = await one("srs", id);
  t.match(sr, { SR_type: "nfs", shared: true, name_label: "share" });
  t.equal((sr["$PBDs"] as string[]).length, 3);
  await admin.request("sr.set", { id, name_label: "renamed" });
  t.equal((await act(`/srs/${id}/actions/scan`)).status, 204);
  await admin.request("sr.disconnectAllPbds", { id });
  t.match(await list("pbds", `SR:${id} attached?`), []);
  const [pbd] = await list("pbds", `SR:${id}`);
  t.equal((await act(`/pbds/${pbd!.id}/actions/plug`)).status, 204);
  t.match(await one("pbds", pbd!.id), { attached: true });
  t.equal((await act(`/pbds/${pbd!.id}/actions/unplug`)).status, 204);
  await admin.request("sr.connectAllPbds", { id });
  t.equal((await list("pbds", `SR:${id} attached?`)).length, 3);
  t.equal((await act(`/srs/${id}/actions/forget`)).status, 204);
  t.equal((await admin.rest("GET", `/srs/${id}`)).status, 404);

  const back = await admin.request<string>("sr.createNfs", {
    host: host!.id,
    nameLabel: "back",
    nameDescription: "",
    server: "192.0.2.9",
    serverPath: "/export",
    srUuid: id,
  });
  t.equal(back, id, "taken back as what it was");
  t.equal((await list("pbds", `SR:${id} attached?`)).length, 3);
  t.equal((await admin.rest("DELETE", `/srs/${id}`)).status, 204);

  const any = await admin.rest("POST", "/srs", {
    hostId: host!.id,
    SR_type: "ext",
    name_label: "disk",
    device_config: { device: "/dev/sdb" },
  });
  t.equal(any.status, 201);
  const { id: local } = any.body as Row;
  t.match(await one("srs", local), { shared: false, $container: host!.id });
  const odd = { hostId: host!.id, SR_type: "odd", name_label: "x" };
  const refused = await admin.rest("POST", "/srs", {
    ...odd,
    device_config: {},
  });
  t.match(refused.body, { error: "SR_UNKNOWN_DRIVER(odd)" });
  const full = await admin.rest("DELETE", `/srs/${nfs!.id}`);
  t.equal(full.status, 500);
  t.equal(
    (await list("pbds", `SR:${nfs!.id} attached?`)).length,
    3,
    "an SR in use stays connected",
  );
}

async function probes(t: Test, { host, admin }: Bench) {
  const params = { host: host!.id, server: "192.0.2.9" };
  t.same(await admin.request("sr.probeNfs", params), [
    { path: "/export/xcp", acl: "*" },
    { path: "/export/iso", acl: "192.0.2.0/24" },
  ]);
  t.same(
    await admin.request("sr.probeNfsExists", {
      ...params,
      serverPath: "/export/xcp",
    }),
    [],
  );
  const portal = { host: host!.id, target: "192.0.2.8" };
  t.match(await admin.request("sr.probeIscsiIqns", portal), [
    { iqn: "iqn.2001-05.com.example:storage", ip: "192.0.2.8" },
  ]);
  t.match(
    await admin.request("sr.probeIscsiLuns", {
      ...portal,
      targetIqn: "iqn.x",
    }),
    [{ id: "0", scsiId: String, size: String }],
  );
}

async function operationsWithoutRight(
  t: Test,
  { list, nfs, bench, halted, host, san }: Bench,
) {
  const [vdi] = await list("vdis", "name_label:own");
  const [vbd] = await list("vbds", `VDI:${vdi!.id}`);
  const [pbd] = await list("pbds", `SR:${nfs!.id}`);
  const eve = await bench.addUser("eve", {
    [vdi!.id]: "viewer",
    [vbd!.id]: "viewer",
    [halted!.id]: "admin",
    [nfs!.id]: "viewer",
    [host!.id]: "viewer",
    [pbd!.id]: "viewer",
  });
  const calls: [string, object][] = [
    ["disk.create", { name: "x", size: 1, sr: nfs!.id }],
    ["vdi.set", { id: vdi!.id, name_label: "x" }],
    ["vdi.delete", { id: vdi!.id }],
    ["vdi.migrate", { id: vdi!.id, sr_id: nfs!.id }],
    ["sr.set", { id: nfs!.id, name_label: "x" }],
    ["sr.scan", { id: nfs!.id }],
    ["sr.forget", { id: nfs!.id }],
    ["sr.destroy", { id: nfs!.id }],
    ["sr.reclaimSpace", { id: nfs!.id }],
    ["pbd.disconnect", { id: pbd!.id }],
    [
      "sr.createLvm",
      {
        host: host!.id,
        nameLabel: "x",
        nameDescription: "",
        device: "/dev/sdb",
      },
    ],
    ["sr.probeNfs", { host: host!.id, server: "192.0.2.9" }],
  ];
  for (const [method, params] of calls)
    t.match(await eve.call(method, params), { error: { code: 2 } }, method);
  // The second object counts, too.
  const drive = { VM: halted!.id, VDI: vdi!.id };
  const attached = await eve.rest("POST", "/vbds", drive);
  t.equal(attached.status, 403);
  const disk = { name: "x", size: 1, sr: san!.id, vm: halted!.id };
  t.match(await eve.call("disk.create", disk), { error: { code: 1 } });
  t.equal((await eve.rest("DELETE", `/vdis/${vdi!.id}`)).status, 403);
}
