import t, { type Test } from "tap";
import { startVmBench, type VmBench } from "./vm-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");

const GiB = 2 ** 30;

t.test("VMs are copied, moved and deleted", LIMIT, async (t) => {
  const bench = await startVmBench(t);

  await t.test("CDs, disks and interfaces are put in", (t) =>
    attachedDevices(t, bench),
  );

  await t.test("snapshots bring a VM back", (t) => revertedSnapshots(t, bench));

  await t.test("VMs are cloned, copied and converted to templates", (t) =>
    copiesAndTemplates(t, bench),
  );

  await t.test("VMs are migrated, with their disks if requested", (t) =>
    migrations(t, bench),
  );

  await t.test("only disks that no other VM uses are deleted", (t) =>
    deletionOfDisks(t, bench),
  );
});

async function attachedDevices(
  t: Test,
  { make, runs, api, $pool, one, sr, network, disksOf }: VmBench,
) {
  const id = await make("devices", runs);
  const isos = (await api.all({ type: "VDI", $pool })).filter(
    ({ name_label }) => String(name_label).endsWith(".iso"),
  );
  const [first, second] = isos.map((iso) => iso.id) as [string, string];
  const inDrive = async () =>
    (await one({ type: "VBD", VM: id, is_cd_drive: true }))["VDI"];
  t.ok(await api.request("vm.ejectCd", { id }), "there is none yet");
  t.ok(await api.request("vm.insertCd", { id, cd_id: first }));
  t.equal(await inDrive(), first);
  t.match(await api.call("vm.insertCd", { id, cd_id: second }), {
    error: { code: -32000, message: /^VBD_NOT_EMPTY/ },
  });
  t.ok(await api.request("vm.insertCd", { id, cd_id: second, force: true }));
  t.equal(await inDrive(), second);
  t.ok(await api.request("vm.ejectCd", { id }));
  t.equal(await inDrive(), undefined);

  const disk = { name: "spare", size: GiB, sr: sr.id };
  const vdi = (await api.request("disk.create", disk)) as string;
  const attach = { vm: id, vdi, mode: "RW", position: 5 };
  t.equal(await api.request("vm.attachDisk", attach), true);
  t.match(await one({ type: "VBD", VM: id, VDI: vdi }), {
    position: "5",
    attached: true,
    read_only: false,
  });
  const vif = (await api.request("vm.createInterface", {
    vm: id,
    network: network.id,
    mac: "02:00:00:00:00:09",
    allowedIpv4Addresses: ["192.0.2.9"],
  })) as string;
  t.match(await api.get(vif), {
    $VM: id,
    device: "1",
    MAC: "02:00:00:00:00:09",
    attached: true,
    lockingMode: "locked",
  });
  const [pci] = await api.all({ type: "PCI", $pool });
  await api.request("vm.attachPcis", { id, pcis: [pci!.id] });
  t.same((await api.get(id))["attachedPcis"], [pci!["pci_id"]]);
  await api.request("vm.detachPcis", { id, pciIds: [pci!["pci_id"]] });
  t.notOk("attachedPcis" in (await api.get(id)));
  const drive = { vm: id, sr: sr.id, config: "#cloud-config\n" };
  t.ok(await api.request("vm.createCloudInitConfigDrive", drive));
  t.equal((await disksOf(id)).length, 3);
  await api.request("vm.delete", { id });
  t.same(await api.all({ id: vdi }), [], "all its disks");
}

async function revertedSnapshots(t: Test, { make, api }: VmBench) {
  const id = await make("snapshots");
  const params = { id, name: "before", description: "all well" };
  const snapshot = (await api.request("vm.snapshot", params)) as string;
  t.match(await api.get(snapshot), {
    type: "VM-snapshot",
    $snapshot_of: id,
    name_description: "all well",
  });
  await api.request("vm.set", { id, CPUs: 2 });
  t.equal(await api.request("vm.revert", { snapshot }), true);
  t.match(await api.get(id), { CPUs: { number: 1 } });
  await api.request("vm.start", { id });
  const live = (await api.request("vm.snapshot", {
    id,
    saveMemory: true,
  })) as string;
  const revert = (body: object) =>
    api.rest("POST", `/vms/${id}/actions/revert_snapshot?sync=true`, body);
  const done = await revert({ snapshotId: live, snapshotBefore: true });
  t.equal(done.status, 204, await done.text());
  const vm = await api.get(id);
  t.equal((vm["snapshots"] as string[]).length, 3);
  t.equal(vm["power_state"], "Running", "as it was then");
  t.equal((await revert({ snapshotId: id })).status, 404);
  const other = await make("other");
  const foreign = (await api.request("vm.snapshot", { id: other })) as string;
  t.equal((await revert({ snapshotId: foreign })).status, 422);
  const drop = (one: string) => api.rest("DELETE", `/vm-snapshots/${one}`);
  t.equal((await drop(live)).status, 204);
  t.equal((await drop(live)).status, 404);
  t.equal(((await api.get(id))["snapshots"] as string[]).length, 2);
  for (const one of [id, other]) await api.request("vm.delete", { id: one });
  t.same(await api.all({ id: snapshot }), [], "went with its VM");
}

async function copiesAndTemplates(
  t: Test,
  { make, api, sr, disksOf, one, shared, elsewhere }: VmBench,
) {
  const id = await make("source");
  const clone = { id, name: "clone", full_copy: false };
  const created = [
    await api.request("vm.clone", clone),
    await api.request("vm.clone", { ...clone, full_copy: true }),
    await api.request("vm.copy", { vm: id, sr: sr.id, name: "copy" }),
  ] as string[];
  for (const copy of created) {
    t.match(await api.get(copy), {
      type: "VM",
      name_label: /^(clone|copy)$/,
    });
    t.equal((await disksOf(copy)).length, 1);
  }
  const answer = await api.rest("POST", `/vms/${id}/actions/clone?sync=true`, {
    name_label: "rest",
    fast: true,
  });
  t.equal(answer.status, 201);
  created.push(((await answer.json()) as { id: string }).id);
  t.match(await api.get(created[3]!), { name_label: "rest", type: "VM" });

  const there = await one({ ...shared, $pool: elsewhere });
  const far = (await api.request("vm.copy", {
    vm: id,
    sr: there.id,
    name: "far",
    compress: "gzip",
  })) as string;
  t.match(await api.get(far), {
    type: "VM",
    name_label: "far",
    $pool: elsewhere,
  });
  t.match(await api.get(String((await disksOf(far))[0]!["VDI"])), {
    $SR: there.id,
  });
  created.push(far);

  const likeness = (await api.request("vm.copyToTemplate", {
    id,
  })) as string;
  t.match(await api.get(likeness), { type: "VM-template" });
  const snapshot = (await api.request("vm.snapshot", {
    id,
    name: "s",
  })) as string;
  const second = (await api.request("vm.copyToTemplate", {
    id: snapshot,
  })) as string;
  t.match(await api.get(second), { type: "VM-template" });
  created.push(second);
  t.equal(await api.request("vm.convert", { id }), true);
  t.match(await api.get(id), { type: "VM-template" });
  t.equal(await api.request("vm.convertFromTemplate", { id }), true);
  t.match(await api.get(id), { type: "VM", power_state: "Halted" });
  for (const one of [...created, likeness, id])
    await api.request("vm.delete", { id: one });
}

async function migrations(
  t: Test,
  { make, runs, api, hosts, sr, one, $pool, disksOf, elsewhere }: VmBench,
) {
  const id = await make("mover", runs);
  const here = (await api.get(id))["$container"];
  const target = hosts.find((host) => host.id !== here)!.id;
  const migrate = (body: object) =>
    api.rest("POST", `/vms/${id}/actions/migrate?sync=true`, body);
  t.equal((await migrate({ hostId: target })).status, 204);
  t.equal((await api.get(id))["$container"], target);
  const back = { host: String(here) };
  t.equal((await migrate(back)).status, 204, "another name for hostId");
  t.equal((await migrate({ hostId: sr.id })).status, 404);
  t.equal((await migrate({})).status, 422);

  const local = await one(
    { type: "SR", $pool, content_type: "user" },
    (sr) => sr["$container"] === target,
  );
  const [disk] = await disksOf(id);
  const mapVdisSrs = { [String(disk!["VDI"])]: local.id };
  const move = { vm: id, targetHost: target, mapVdisSrs };
  t.equal(await api.request("vm.migrate", move), true);
  const [moved] = await disksOf(id);
  t.match(await api.get(String(moved!["VDI"])), { $SR: local.id });
  t.equal((await api.get(id))["$container"], target);
  t.match(
    await api.call("vm.migrate", {
      ...move,
      mapVdisSrs: { [String(disk!["VDI"])]: sr.id },
    }),
    { error: { code: 10, data: { reason: /has no disk/ } } },
  );
  const far = await one({ type: "host", $pool: elsewhere });
  t.equal(
    await api.request("vm.migrate", { vm: id, targetHost: far.id }),
    true,
  );
  t.match(await api.get(id), { $pool: elsewhere, power_state: "Running" });
  const [there] = await disksOf(id);
  t.match(await api.get(String(there!["VDI"])), { $pool: elsewhere });
  await api.request("vm.delete", { id });
}

async function deletionOfDisks(
  t: Test,
  { make, runs, disksOf, api, template }: VmBench,
) {
  const id = await make("deleted", runs);
  const [drive] = await disksOf(id);
  const vdi = String(drive!["VDI"]);
  const other = await make("sharer", { VDIs: [] });
  await api.request("vm.attachDisk", { vm: other, vdi });
  await api.request("vm.set", { id, blockedOperations: { destroy: "why" } });
  t.match(await api.call("vm.delete", { id }), {
    error: {
      code: 5,
      message: "forbidden operation: destroy",
      data: { operation: "destroy", reason: "why" },
    },
  });
  const refused = await api.rest("DELETE", `/vms/${id}`);
  t.equal(refused.status, 403);
  t.match(await api.get(id), { power_state: "Running" }, "untouched");
  await api.request("vm.delete", { id, forceBlockedOperation: true });
  t.same(await api.all({ id }), []);
  t.match(await api.get(vdi), { type: "VDI" }, "the other one has it");
  await api.request("vm.delete", { id: other, deleteDisks: false });
  t.match(await api.get(vdi), { type: "VDI" });
  await api.request("vdi.delete", { id: vdi });

  t.match(await api.call("vm.delete", { id: template.id }), {
    error: { code: 5, data: { reason: /default template/ } },
  });
  t.equal(
    (await api.rest("DELETE", `/vm-templates/${template.id}`)).status,
    403,
  );
  t.match(await api.call("vm.delete", { id: "none" }), {
    error: { code: 1 },
  });
}
