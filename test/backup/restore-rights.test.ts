import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import type { Answer, Privilege } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { storeBackup } from "./stored-backups.js";
import { recordsOf } from "./vm-records.js";

t.comment("timeout=480000");

const MIB = 2 ** 20;

const read = { resource: "*", action: "read" };
const right = (resource: string, action: string): Privilege => ({
  resource,
  action,
});
const repositories = right("backup-repository", "read");
const restores = right("backup-repository", "administrate:restore");
const imports = right("pool", "administrate:import-vm");
const createsDisks = right("SR", "administrate:create-vdi");
const reverts = right("VM", "operate:revert");
const usesNetworks = right("network", "operate:use");

function permissionOf({ error }: Answer): string | undefined {
  const { code, permission } = (error?.data ?? {}) as {
    readonly code?: string;
    readonly permission?: string;
  };
  return code === undefined ? undefined : (permission ?? code);
}

t.test("each object that a restore reaches needs its right", async (t) => {
  const bench = await setUp(t);
  const { id, refused, whole, test, disk, download, over, count, before } =
    bench;

  await t.test("the repository", () =>
    refused([imports, createsDisks, usesNetworks, reverts], restores.action, {
      ...whole,
      ...test,
      ...disk,
      ...download,
      ...over,
    }),
  );
  await t.test("to delete needs another right than to restore", () =>
    refused([restores], "administrate:delete", {
      "backupNg.deleteVmBackup": { id },
      "backupNg.deleteVmBackups": { ids: [id] },
    }),
  );
  await t.test("the pool", () =>
    refused([restores, createsDisks, usesNetworks], imports.action, {
      ...whole,
      ...test,
    }),
  );
  await t.test("the SR", () =>
    refused([restores, imports, usesNetworks], createsDisks.action, {
      ...whole,
      ...test,
      ...disk,
    }),
  );
  await t.test("another SR of one disk", (t) => otherSrOfOneDisk(t, bench));
  await t.test("the networks of the interfaces", () =>
    refused([restores, imports, createsDisks], usesNetworks.action, whole),
  );
  await t.test("the VM that is restored over", () =>
    refused([restores, imports, createsDisks], "operate:revert", over),
  );
  t.same(count(), before, "nothing was created");

  await t.test("with all of them it is restored", (t) =>
    restoreWithAllRights(t, bench),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const { api, pools } = await startControlled(t, { hosts: 1, vms: 3 });
  const repository = await createRepository(t, api);
  const vms = await api.all({ type: "VM", power_state: "Halted" });
  const source = vms[0] ?? (await api.all({ type: "VM" }))[0]!;
  const owner = { uuid: source.id, name_label: "web" };
  const records = recordsOf(pools[0]!, source.id);
  const backup = await storeBackup(
    repository,
    owner,
    { d0: randomBytes(2 * MIB) },
    { records },
  );
  const remotes = [repository.id];
  await api.request("backupNg.listVmBackups", { remotes, _forceRefresh: true });
  const id = `${repository.id}/${backup}`;
  const srs = await api.all({ type: "SR" });
  const sr = (srs.find((one) => one["SR_type"] === "nfs") ?? srs[0]!).id;
  const count = () =>
    ["VM", "VDI", "network"].map(
      (name) => pools[0]!.database.table(name).rows.size,
    );
  const before = count();

  let users = 0;
  const signUp = async (...privileges: readonly Privilege[]) => {
    const rights = { privileges: [read, ...privileges] };
    return (await api.signUp(t, `user${++users}`, rights)).session;
  };
  const refused = async (
    privileges: readonly Privilege[],
    missing: string,
    calls: Readonly<Record<string, object>>,
  ) => {
    const user = await signUp(...privileges);
    for (const [method, params] of Object.entries(calls))
      t.equal(permissionOf(await user.call(method, params)), missing, method);
  };

  const whole = {
    "backup.restore": { id, sr },
    "backupNg.importVmBackup": { id, sr, settings: {} },
  };
  const test = { "backupNg.checkBackup": { id, sr } };
  const disk = { "backup.restoreDisk": { id, disk: "d0", sr } };
  const download = {
    "backup.downloadDisk": { id, disk: "d0" },
    "backup.downloadVm": { id },
    "backupArchive.getRestoreScreenshot": { id },
  };
  const over = { "backup.restoreOver": { id, vm: source.id } };
  return {
    srs,
    sr,
    api,
    id,
    signUp,
    records,
    refused,
    whole,
    test,
    disk,
    download,
    over,
    count,
    before,
  };
}

async function otherSrOfOneDisk(t: Test, { srs, sr, api, id }: Bench) {
  const other = srs.find((one) => one.id !== sr)!.id;
  const { session: user } = await api.signUp(t, "one-sr", {
    privileges: [read, restores, imports, usesNetworks],
    acls: [{ object: sr, action: "admin" }],
  });
  const params = { id, sr, srs: { d0: other } };
  const answer = await user.call("backup.restore", params);
  t.equal(permissionOf(answer), createsDisks.action);
}

async function restoreWithAllRights(
  t: Test,
  { signUp, id, sr, records }: Bench,
) {
  const user = await signUp(
    repositories,
    restores,
    imports,
    createsDisks,
    usesNetworks,
  );
  t.match(await user.request("backup.restore", { id, sr }), { id: String });
  // Of a backup whose index has no interfaces, these are read from the manifest.
  const interfaces = await user.request("backupArchive.getInterfaces", {
    id,
  });
  const VIFs = Object.values(
    records["VIFs"] as Record<string, { MAC: string; device: string }>,
  );
  t.same(
    (interfaces as { mac: string }[]).map(({ mac }) => mac).toSorted(),
    VIFs.map(({ MAC }) => MAC).toSorted(),
  );
  t.match(interfaces, [{ device: "0", network: { uuid: /^[0-9a-f-]{36}$/ } }]);
}
