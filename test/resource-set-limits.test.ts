import t from "tap";
import { ApiSession, type Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

const MiB = 2 ** 20;
const GiB = 2 ** 30;

t.test("a set bounds its VMs after their creation too", async (t) => {
  const { api, calls, record } = await startControlled(t, {
    hosts: 2,
    vms: 4,
  });
  const one = async (filter: object) => (await api.all(filter))[0] as Thing;
  const name_label = "Other install media";
  const template = (await one({ type: "VM-template", name_label })).id;
  const sr = (await one({ type: "SR", shared: true, content_type: "user" })).id;
  const { id: ada, session } = await api.signUp(t, "ada");
  const { id: eve, session: other } = await api.signUp(t, "eve");
  const createSet = async (name: string, subject: string) =>
    (
      (await api.request("resourceSet.create", {
        name,
        subjects: [subject],
        objects: [template, sr],
        limits: { vms: 2, cpus: 4, memory: 4 * GiB, disk: 4 * GiB },
      })) as { id: string }
    ).id;
  const set = await createSet("ada's", ada);
  const second = await createSet("ada's second", ada);
  const foreign = await createSet("eve's", eve);
  const create = async (who: ApiSession, resourceSet: string) =>
    (await who.request("vm.create", {
      name_label: "tenant",
      template,
      CPUs: 2,
      memoryMax: GiB,
      VDIs: [{ SR: sr, size: 3 * GiB }],
      VIFs: [],
      resourceSet,
    })) as string;
  const id = await create(session, set);
  const exhausted = (
    resourceType: string,
    requested: number,
    left: number,
  ) => ({
    error: {
      code: 24,
      message: `not enough resources in the set: ${requested} ${resourceType} requested, ${left} left`,
      data: { resourceType, requested, available: left },
    },
  });
  const limits = async (setId: string) =>
    ((await api.request("resourceSet.get", { id: setId })) as Thing)["limits"];

  await t.test("CPUs and memory that a VM gets are counted", async (t) => {
    calls();
    t.match(
      await session.call("vm.set", { id, CPUs: 64, cpusMax: 64 }),
      exhausted("cpus", 62, 2),
    );
    t.match(
      await session.call("vm.set", { id, memoryMax: 64 * GiB }),
      exhausted("memory", 63 * GiB, 3 * GiB),
    );
    t.same(calls(), []);
    t.equal(await session.request("vm.set", { id, CPUs: 4, cpusMax: 4 }), true);
    t.match(await limits(set), { cpus: { usage: 4 } });
    t.match(
      await session.call("vm.set", { id, CPUs: 5, cpusMax: 5 }),
      exhausted("cpus", 1, 0),
    );
    t.equal(
      await session.request("vm.set", { id, CPUs: 2 }),
      true,
      "and returned",
    );
    t.equal(await session.request("vm.set", { id, CPUs: 4 }), true);
    t.equal(await session.request("vm.set", { id, CPUs: 2, cpusMax: 2 }), true);
  });

  await t.test("concurrent tasks do not get more than the share", async (t) => {
    const vm = await create(other, foreign);
    const answers = await Promise.all([
      other.call("vm.set", { id: vm, CPUs: 4, cpusMax: 4 }),
      other.call("vm.clone", { id: vm, name: "copy" }),
    ]);
    t.equal(answers.filter(({ error }) => error?.code === 24).length, 1);
    await api.request("vm.delete", { id: vm });
  });

  await t.test("disks of a VM grow within the set", async (t) => {
    const vbd = await one({ type: "VBD", VM: id, is_cd_drive: false });
    const vdi = String(vbd["VDI"]);
    await api.request("acl.add", {
      subject: ada,
      object: vdi,
      action: "admin",
    });
    t.match(
      await session.call("vdi.set", { id: vdi, size: 6 * GiB }),
      exhausted("disk", 3 * GiB, GiB),
    );
    t.equal(await session.request("vdi.set", { id: vdi, size: 4 * GiB }), true);
    const spare = await api.request("disk.create", {
      name: "x",
      size: GiB,
      sr,
    });
    await api.request("acl.add", {
      subject: ada,
      object: spare,
      action: "admin",
    });
    t.match(
      await session.call("vm.attachDisk", { vm: id, vdi: spare }),
      exhausted("disk", GiB, 0),
    );
    t.match(
      await session.call("vbd.create", { VM: id, VDI: spare }),
      exhausted("disk", GiB, 0),
    );
  });

  await t.test("disks of snapshots and config drives too", async (t) => {
    const limit = { id: set, limitId: "disk" };
    calls();
    t.match(
      await session.call("vm.snapshot", { id }),
      exhausted("disk", 4 * GiB, 0),
    );
    const config = { vm: id, sr, config: "#cloud-config" };
    t.match(
      await session.call("vm.createCloudInitConfigDrive", config),
      exhausted("disk", 4 * MiB, 0),
    );
    t.same(calls(), [], "nothing was created");
    await api.request("resourceSet.addLimit", { ...limit, quantity: 9 * GiB });
    await session.request("vm.createCloudInitConfigDrive", config);
    t.match(await limits(set), { disk: { usage: 4 * GiB + 4 * MiB } });
    const snapshot = await session.request("vm.snapshot", { id });
    t.match(await limits(set), { disk: { usage: 8 * GiB + 8 * MiB } });
    const revert = { id, snapshot, snapshotBefore: true };
    t.match(await session.call("vm.revertSnapshot", revert), {
      error: { code: 24, data: { resourceType: "disk" } },
    });
    await api.request("vm.delete", { id: snapshot });
    const name_label = "XO CloudConfigDrive";
    await api.request("vdi.delete", {
      id: (await one({ type: "VDI", name_label })).id,
    });
    t.match(await limits(set), { disk: { usage: 4 * GiB } }, "they are freed");
    await api.request("resourceSet.addLimit", { ...limit, quantity: 4 * GiB });
  });

  await t.test("snapshots are counted, and limited", async (t) => {
    const limit = { id: set, limitId: "snapshots" };
    const disk = { id: set, limitId: "disk" };
    await api.request("resourceSet.addLimit", { ...disk, quantity: 99 * GiB });
    await api.request("resourceSet.addLimit", { ...limit, quantity: 1 });
    const snapshot = await session.request("vm.snapshot", { id });
    t.match(await session.call("vm.snapshot", { id }), {
      error: { code: 24, data: { resourceType: "snapshots", available: 0 } },
    });
    const revert = { id, snapshot, snapshotBefore: true };
    t.match(await session.call("vm.revertSnapshot", revert), {
      error: { code: 24 },
    });
    t.match(await limits(set), { snapshots: { total: 1, usage: 1 } });
    t.equal(await api.request("vm.delete", { id: snapshot }), true);
    await api.request("resourceSet.addLimit", { ...disk, quantity: 4 * GiB });
    await api.request("resourceSet.removeLimit", limit);
  });

  await t.test("copies are counted and belong to their creator", async (t) => {
    t.match(await session.call("vm.clone", { id, name: "copy" }), {
      error: { code: 24, data: { resourceType: "disk" } },
    });
    await api.request("resourceSet.addLimit", {
      id: set,
      limitId: "disk",
      quantity: 100 * GiB,
    });
    const copy = await session.request("vm.clone", { id, name: "copy" });
    t.match(await api.get(String(copy)), { resourceSet: set });
    t.equal(await session.request("vm.set", { id: copy, notes: "mine" }), true);
    t.match(await limits(set), { vms: { usage: 2 }, disk: { usage: 8 * GiB } });
    t.match(await session.call("vm.clone", { id, name: "third" }), {
      error: { code: 24 },
    });
    t.match(await session.call("vm.copy", { vm: id, sr }), {
      error: { code: 24 },
    });
    t.equal(await session.request("vm.delete", { id: copy }), true);
  });

  await t.test("a template that was a VM is counted again", async (t) => {
    t.equal(await session.request("vm.convertToTemplate", { id }), true);
    const rest = [await create(session, set), await create(session, set)];
    t.match(await session.call("vm.convertFromTemplate", { id }), {
      error: { code: 24 },
    });
    for (const one of rest) await session.request("vm.delete", { id: one });
    t.equal(await session.request("vm.convertFromTemplate", { id }), true);
  });

  await t.test(
    "only administrators remove a VM from its resource set",
    async (t) => {
      const forbidden = { error: { code: 2 } };
      const seenBy = async (user: ApiSession) =>
        (await user.rest("GET", `/vms/${id}`)).status;
      t.match(
        await session.call("vm.set", { id, resourceSet: null }),
        forbidden,
      );
      t.match(await session.call("vm.set", { id, share: true }), forbidden);
      t.match(await session.call("vm.set", { id, resourceSet: foreign }), {
        error: { code: 1 },
      });
      t.same(
        record("VM", id)["other_config"]?.["xo:resource_set" as never],
        JSON.stringify(set),
      );
      const before = { id, resourceSet: set };
      t.equal(await session.request("vm.set", before), true, "unchanged");
      t.equal(
        await session.request("vm.set", { id, resourceSet: second }),
        true,
      );
      t.match(await limits(second), { vms: { usage: 1 }, cpus: { usage: 2 } });
      t.match(await limits(set), { vms: { usage: 0 } });
      await api.request("resourceSet.addLimit", {
        id: set,
        limitId: "vms",
        quantity: 0,
      });
      t.match(await session.call("vm.set", before), exhausted("vms", 1, 0));
      t.equal(await api.request("vm.set", { id, resourceSet: foreign }), true);
      t.equal(await seenBy(other), 404);
      t.equal(await api.request("vm.set", { id, share: true }), true);
      t.equal(await seenBy(other), 200, "shared with the subjects of the set");
      t.equal(await api.request("vm.set", { id, resourceSet: null }), true);
    },
  );
});
