import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import type { Thing } from "./api-session.js";
import { createRepository } from "./backup/repository-folders.js";
import { storeBackup } from "./backup/stored-backups.js";
import { recordsOf } from "./backup/vm-records.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;
const MiB = 2 ** 20;
const exhausted = (resourceType: string) => ({
  error: { code: 24, data: { resourceType } },
});
const refused = { error: { data: { code: "FORBIDDEN_OPERATION" } } };

/** A self-service user with a set of 4 GiB, and a VM of 3 GiB in it. */
async function setUp(t: Test) {
  const controlled = await startControlled(t, { hosts: 1, vms: 3 });
  const { api } = controlled;
  const one = async (filter: object) => (await api.all(filter))[0] as Thing;
  const template = (
    await one({ type: "VM-template", name_label: "Other install media" })
  ).id;
  const { id: sr } = await one({
    type: "SR",
    shared: true,
    content_type: "user",
  });
  const { id: ada, session } = await api.signUp(t, "ada");
  const { id: set } = (await api.request("resourceSet.create", {
    name: "ada's",
    subjects: [ada],
    objects: [template, sr],
    limits: { vms: 3, cpus: 4, memory: 4 * GiB, disk: 4 * GiB },
  })) as { id: string };
  const create = async (more: object = {}) =>
    String(
      await session.request("vm.create", {
        name_label: "tenant",
        template,
        CPUs: 1,
        memoryMax: GiB,
        VDIs: [{ SR: sr, size: 3 * GiB }],
        VIFs: [],
        resourceSet: set,
        ...more,
      }),
    );
  const used = async (what: string) => {
    const { limits } = (await api.request("resourceSet.get", { id: set })) as {
      readonly limits: Record<string, { readonly usage: number }>;
    };
    return limits[what]!.usage;
  };
  const diskOf = async (VM: string) =>
    one({ type: "VBD", VM, is_cd_drive: false });
  return {
    ...controlled,
    one,
    template,
    sr,
    ada,
    set,
    session,
    create,
    used,
    diskOf,
  };
}

t.test("disks of templates are counted", async (t) => {
  const { api, session, create, used, set, sr, template } = await setUp(t);
  const id = await create();
  await t.test("also those of a copy", async (t) => {
    t.match(await session.call("vm.copyToTemplate", { id }), exhausted("disk"));
    t.equal(await used("disk"), 3 * GiB);
  });
  await t.test("also those of a VM that became one", async (t) => {
    t.equal(await session.request("vm.convertToTemplate", { id }), true);
    t.same(
      [await used("disk"), await used("vms"), await used("cpus")],
      [3 * GiB, 0, 0],
    );
    t.match(
      await session.call("vm.create", {
        name_label: "second",
        template,
        VDIs: [{ SR: sr, size: 2 * GiB }],
        VIFs: [],
        resourceSet: set,
      }),
      exhausted("disk"),
    );
  });
  await t.test("a VM that is created from it has its disks", async (t) => {
    const input = { name_label: "x", template: id, resourceSet: set, VIFs: [] };
    await api.request("resourceSet.addObject", { id: set, object: id });
    t.match(await session.call("vm.create", input), exhausted("disk"));
    t.match(
      await session.call("vm.create", {
        ...input,
        VDIs: [{ userdevice: "0", name_label: "renamed" }],
      }),
      exhausted("disk"),
    );
    t.equal(await used("disk"), 3 * GiB);
  });
  await t.test("without a choice it is counted in their set", async (t) => {
    const input = { name_label: "x", template: id, VIFs: [] };
    t.match(await session.call("vm.create", input), exhausted("disk"));
    t.match(
      await session.call("vm.create", { ...input, resourceSet: null }),
      exhausted("disk"),
    );
    const limit = { id: set, limitId: "disk", quantity: 6 * GiB };
    await api.request("resourceSet.addLimit", limit);
    const VM = String(await session.request("vm.create", input));
    t.match(await api.get(VM), { resourceSet: set });
    t.same([await used("disk"), await used("vms")], [6 * GiB, 1]);
    t.equal(await session.request("vm.delete", { id: VM }), true);
    await api.request("resourceSet.addLimit", { ...limit, quantity: 4 * GiB });
  });
  await t.test("a VM outside of the set does not enter it", async (t) => {
    const VM = await api.request("vm.create", {
      name_label: "of the administrator",
      template: id,
      VIFs: [],
    });
    t.equal((await api.get(String(VM)))?.["resourceSet"], undefined);
    t.equal(await used("vms"), 0);
  });
  t.equal(await session.request("vm.convertFromTemplate", { id }), true);
  t.same([await used("disk"), await used("vms")], [3 * GiB, 1]);
});

t.test("a disk stays where it is counted", async (t) => {
  const { api, session, create, used, diskOf, ada } = await setUp(t);
  const id = await create();
  const vbd = await diskOf(id);
  t.match(await session.call("vbd.delete", { id: vbd.id }), refused);
  t.match(await session.call("vm.delete", { id, deleteDisks: false }), refused);
  t.equal(await used("disk"), 3 * GiB);
  const other = await create({ VDIs: [] });
  const VDI = String(vbd["VDI"]);
  await api.request("acl.add", { subject: ada, object: VDI, action: "admin" });
  t.equal(
    await session.request("vm.attachDisk", { vm: other, vdi: VDI }),
    true,
  );
  t.equal(await used("disk"), 3 * GiB, "a shared disk is counted once");
  t.equal(await session.request("vbd.delete", { id: vbd.id }), true);
  t.equal(await used("disk"), 3 * GiB, "it has moved to the other VM");
  const { id: moved } = await diskOf(other);
  t.equal(
    await api.request("vbd.delete", { id: moved }),
    true,
    "administrators",
  );
  t.equal(await used("disk"), 0);
});

t.test("a revert stays within the set", async (t) => {
  const { api, session, create, used, diskOf, set } = await setUp(t);
  const id = await create();
  // For a VM, and a snapshot of its disk or a second VM.
  const limit = { id: set, limitId: "disk", quantity: 7 * GiB };
  await api.request("resourceSet.addLimit", limit);
  await t.test("disks that come back are counted", async (t) => {
    const snapshot = await session.request("vm.snapshot", { id });
    t.equal(await used("disk"), 6 * GiB);
    const vdi = String((await diskOf(id))["VDI"]);
    t.equal(await api.request("vdi.delete", { id: vdi }), true);
    t.equal(await used("disk"), 3 * GiB, "that of the snapshot");
    const second = await create();
    t.match(
      await session.call("vm.revertSnapshot", { id, snapshot }),
      exhausted("disk"),
    );
    t.equal(await session.request("vm.delete", { id: second }), true);
    t.equal(await session.request("vm.revertSnapshot", { id, snapshot }), true);
    t.equal(await used("disk"), 6 * GiB);
  });
  await t.test("a snapshot from before does not remove it", async (t) => {
    t.equal(await api.request("vm.set", { id, resourceSet: null }), true);
    const snapshot = await api.request("vm.snapshot", { id });
    t.equal(await api.request("vm.set", { id, resourceSet: set }), true);
    t.equal(await session.request("vm.revertSnapshot", { id, snapshot }), true);
    t.match(await api.get(id), { resourceSet: set });
  });
});

t.test("what comes from outside does not enter a set uncounted", async (t) => {
  const { api, url, pools, ada, sr, session, create, used, record } =
    await setUp(t);
  const repository = await createRepository(t, api);
  const roleId = await api.request("role.create", { name: "imports" });
  for (const [resource, action] of [
    ["*", "read"],
    ["pool", "administrate:import-vm"],
    ["SR", "administrate:create-vdi"],
    ["network", "operate:use"],
    ["backup-repository", "administrate:restore"],
  ])
    await api.request("privilege.create", {
      roleId,
      effect: "allow",
      resource,
      action,
    });
  await api.request("role.addToUser", { id: roleId, userId: ada });
  const id = await create({ VDIs: [{ SR: sr, size: 3 * GiB }] });
  const store = async (size: number, records = recordsOf(pools[0]!, id)) => {
    const owner = { uuid: id, name_label: "tenant" };
    const backup = await storeBackup(
      repository,
      owner,
      { d0: randomBytes(size) },
      { records },
    );
    const remotes = [repository.id];
    await api.request("backupNg.listVmBackups", {
      remotes,
      _forceRefresh: true,
    });
    return `${repository.id}/${backup}`;
  };
  const small = await store(6 * MiB);

  await t.test("an XVA that names it", async (t) => {
    const { $getFrom } = (await api.request("vm.export", { id })) as {
      $getFrom: string;
    };
    const xva = await (await fetch(new URL($getFrom, url))).blob();
    const { $sendTo } = (await session.request("vm.import", { sr })) as {
      $sendTo: string;
    };
    const answer = await fetch(new URL($sendTo, url), {
      method: "POST",
      body: xva,
    });
    t.equal(answer.status, 200);
    t.equal(await used("vms"), 1);
    const copies = (await api.all({ type: "VM", name_label: "tenant" })).filter(
      (vm) => vm.id !== id,
    );
    t.equal(copies.length, 1);
    t.notOk(
      "xo:resource_set" in Object(record("VM", copies[0]!.id)["other_config"]),
    );
    await api.request("vm.delete", { id: copies[0]!.id });
  });

  await t.test(
    "a restored VM is counted, and belongs to its user",
    async (t) => {
      await api.request("vm.set", { id, CPUs: 4, cpusMax: 4 });
      const before = await used("vms");
      t.match(
        await session.call("backup.restore", { id: small, sr }),
        exhausted("cpus"),
      );
      t.equal(await used("vms"), before);
      await api.request("vm.set", { id, CPUs: 1 });
      const created = (await session.request("backup.restore", {
        id: small,
        sr,
      })) as {
        id: string;
      };
      t.equal(await used("vms"), before + 1);
      t.equal(
        await session.request("vm.set", { id: created.id, notes: "mine" }),
        true,
      );
      t.equal(await session.request("vm.delete", { id: created.id }), true);
    },
  );

  await t.test("a restore over a VM counts what its disks grow", async (t) => {
    const set = await api.get(id);
    await api.request("resourceSet.addLimit", {
      id: set?.["resourceSet"],
      limitId: "disk",
      quantity: 3 * GiB + 4 * MiB,
    });
    const over = await create({ VDIs: [{ SR: sr, size: 2 * MiB }] });
    t.match(
      await session.call("backup.restoreOver", { id: small, vm: over }),
      exhausted("disk"),
    );
    await api.request("resourceSet.addLimit", {
      id: set?.["resourceSet"],
      limitId: "disk",
      quantity: 3 * GiB + 6 * MiB,
    });
    t.equal(
      await session.request("backup.restoreOver", { id: small, vm: over }),
      true,
    );
    t.equal(await used("disk"), 3 * GiB + 6 * MiB);
  });
});
