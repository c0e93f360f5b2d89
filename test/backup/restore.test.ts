import { randomBytes } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import type { SimulatedPool } from "@xo-server/xapi-sim";
import { ApiSession, type Answer, type Thing } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { storeBackup } from "./stored-backups.js";
import { recordsOf } from "./vm-records.js";

t.comment("timeout=600000");

const MIB = 2 ** 20;

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

/** Data, a hole, data. */
function content(size = 12 * MIB): Buffer {
  const bytes = Buffer.alloc(size);
  randomBytes(3 * MIB).copy(bytes, 0);
  randomBytes(MIB).copy(bytes, size - MIB);
  return bytes;
}

function contentOf(
  { disks }: SimulatedPool,
  vdi: string,
  size: number,
): Buffer {
  const bytes = Buffer.alloc(size);
  disks.read(vdi, 0, bytes);
  return bytes;
}

async function open(t: Test) {
  const controlled = await startControlled(t, { hosts: 1, vms: 3 });
  const { api } = controlled;
  const pool = controlled.pools[0]!;
  const repository = await createRepository(t, api);
  const [vm] = await api.all({ type: "VM", power_state: "Halted" });
  const source = vm ?? (await api.all({ type: "VM" }))[0]!;
  const srs = await api.all({ type: "SR" });
  const sr = srs.find((one) => one["SR_type"] === "nfs") ?? srs[0]!;
  const list = async () => {
    const remotes = [repository.id];
    const params = { remotes, _forceRefresh: true };
    await api.request("backupNg.listVmBackups", params);
  };
  const store = async (
    disks: Readonly<Record<string, Buffer>>,
    more: (records: Record<string, unknown>) => void = () => undefined,
  ) => {
    const records = recordsOf(pool, source.id);
    more(records);
    const backup = await storeBackup(
      repository,
      { uuid: source.id, name_label: String(source["name_label"]) },
      disks,
      { records },
    );
    await list();
    return { backup, id: `${repository.id}/${backup}` };
  };
  return { ...controlled, pool, repository, source, sr, store };
}

const disksOf = async (api: ApiSession, vm: string): Promise<Thing[]> => {
  const vbds = await api.all({ type: "VBD", VM: vm, is_cd_drive: false });
  const all = await Promise.all(vbds.map((one) => api.get(String(one["VDI"]))));
  return all;
};

t.test(
  "a VM is restored as a new one, with all that belongs to it",
  async (t) => {
    const { api, pool, source, sr, store, record } = await open(t);
    const disk = content();
    const { id } = await store({ d0: disk }, (records) => {
      const vm = records["VM"] as Record<string, unknown>;
      vm["NVRAM"] = { "EFI-variables": "AAAA" };
      vm["bios_strings"] = { "bios-vendor": "Xen" };
      records["VTPMs"] = {
        x: { contents: Buffer.from("tpm").toString("base64") },
      };
    });
    const { id: vm } = (await api.request("backup.restore", {
      id,
      sr: sr.id,
      name: "restored",
    })) as { id: string };
    const created = record("VM", vm);
    t.match(created, {
      name_label: "restored",
      power_state: "Halted",
      blocked_operations: {},
      NVRAM: { "EFI-variables": "AAAA" },
      bios_strings: { "bios-vendor": "Xen" },
      other_config: { "xo:restored:from": id },
    });
    const old = record("VM", source.id);
    for (const field of ["memory_static_max", "VCPUs_max", "platform"])
      t.same(created[field], old[field], field);
    const [vdi] = await disksOf(api, vm);
    t.match(vdi, { $SR: sr.id, size: disk.length });
    t.ok(contentOf(pool, vdi!.id, disk.length).equals(disk), "same content");
    const vtpms = created["VTPMs"] as string[];
    t.equal(vtpms.length, 1);
    const macsOf = async (id: string) =>
      (await api.all({ type: "VIF", $VM: id })).map((vif) => vif["MAC"]);
    const macs = await macsOf(vm);
    t.equal(macs.length, (await macsOf(source.id)).length);
    t.notSame(macs, await macsOf(source.id), "the first VM still exists");

    const logs = (await api.request("restoreLog.getAll")) as Thing[];
    t.match(logs, [
      { status: "success", message: "restore", data: { backup: id } },
    ]);
    const log = await api.rest("GET", `/restore-logs/${logs[0]!.id}`);
    t.match(await log.json(), { status: "success", result: { id: vm } });
  },
);

t.test("the contract's name restores too, disks to other SRs", async (t) => {
  const { api, pool, source, sr, store } = await open(t);
  const disks = { d0: content(), d1: content(8 * MIB) };
  const { id } = await store(disks);
  const other = (await api.all({ type: "SR" })).find(
    (one) =>
      one.id !== sr.id && one["SR_type"] !== "udev" && one["SR_type"] !== "iso",
  );
  const vm = (await api.request("backupNg.importVmBackup", {
    id,
    sr: sr.id,
    settings: {
      newMacAddresses: false,
      mapVdisSrs: other === undefined ? {} : { d1: other.id },
    },
  })) as string;
  const vdis = await disksOf(api, vm);
  t.equal(vdis.length, 2);
  for (const vdi of vdis) {
    const expected = disks[vdi["name_label"] as "d0"];
    t.ok(contentOf(pool, vdi.id, expected.length).equals(expected));
    const isOther = vdi["name_label"] === "d1" && other !== undefined;
    t.equal(vdi["$SR"], isOther ? other.id : sr.id);
  }
  const macsOf = async (id: string) =>
    (await api.all({ type: "VIF", $VM: id }))
      .map((vif) => vif["MAC"])
      .toSorted();
  t.same(await macsOf(vm), await macsOf(source.id));
});

t.test("a restore that fails or is cancelled leaves nothing", async (t) => {
  const { api, repository, sr, store, pool } = await open(t);
  const { id } = await store({ d0: content(), d1: content() });
  const count = (name: string) => pool.database.table(name).rows.size;
  const before = [count("VM"), count("VDI"), count("VBD")];
  const path = `/backup-archives/${encodeURIComponent(id)}/actions/restore`;
  const started = await api.rest("POST", path, { sr: sr.id });
  t.equal(started.status, 202);
  const { taskId } = (await started.json()) as { taskId: string };
  await api.rest("POST", `/tasks/${taskId}/actions/abort?sync=true`);
  const ended = await api.rest("GET", `/tasks/${taskId}?wait=true`);
  t.match(await ended.json(), { status: "failure" });
  t.same([count("VM"), count("VDI"), count("VBD")], before, "cancelled");

  const packs = join(repository.folder, "packs");
  for (const file of await readdir(packs, { recursive: true })) {
    if (file.length < 10) continue;
    const bytes = await readFile(join(packs, file));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(packs, file), bytes);
  }
  const failed = await api.call("backup.restore", { id, sr: sr.id });
  t.match(codeOf(failed), /^BACKUP_/);
  t.same([count("VM"), count("VDI"), count("VBD")], before, "failed");
});

t.test("a disk is restored, and downloaded", async (t) => {
  const { api, url, pool, sr, store } = await open(t);
  const disk = content();
  const { id } = await store({ d0: disk });
  const vdi = (await api.request("backup.restoreDisk", {
    id,
    disk: "d0",
    sr: sr.id,
    name: "alone",
  })) as string;
  t.match(await api.get(vdi), { name_label: "alone", size: disk.length });
  t.ok(contentOf(pool, vdi, disk.length).equals(disk));
  const wrong = { id, disk: "none", sr: sr.id };
  t.equal(
    codeOf(await api.call("backup.restoreDisk", wrong)),
    "NO_SUCH_OBJECT",
  );

  const { $getFrom } = (await api.request("backup.downloadDisk", {
    id,
    disk: "d0",
    format: "raw",
  })) as { $getFrom: string };
  const answer = await fetch(`${url}${$getFrom}`);
  t.equal(answer.headers.get("content-length"), String(disk.length));
  t.ok(Buffer.from(await answer.arrayBuffer()).equals(disk));
  t.equal((await fetch(`${url}${$getFrom}`)).status, 404, "once only");
  const path = `/backup-archives/${encodeURIComponent(id)}/disks/d0.vhd`;
  const vhd = Buffer.from(await (await api.rest("GET", path)).arrayBuffer());
  t.equal(vhd.subarray(0, 8).toString(), "conectix");
});

t.test("a VM is downloaded as XVA, which a pool imports", async (t) => {
  const { api, url, pool, sr, store, source } = await open(t);
  const first = content();
  const second = content(3 * MIB + 64 * 1024);
  const secret = Buffer.from("state of the TPM").toString("base64");
  const { id } = await store({ d0: first, d1: second }, (records) => {
    records["VM"] = {
      ...(records["VM"] as Thing),
      name_label: `a <b> & "c"`,
      NVRAM: { "EFI-variables": "AAA=" },
    };
    records["VTPMs"] = { "OpaqueRef:1": { contents: secret } };
  });
  const { $getFrom } = (await api.request("backup.downloadVm", { id })) as {
    $getFrom: string;
  };
  const answer = await fetch(`${url}${$getFrom}`);
  const xva = Buffer.from(await answer.arrayBuffer());
  t.equal(answer.headers.get("content-length"), String(xva.length));
  t.ok(xva.length < 9 * MIB, "blocks of zeros are left out");
  const path = `/backup-archives/${encodeURIComponent(id)}.xva`;
  const again = await api.rest("GET", path);
  t.ok(Buffer.from(await again.arrayBuffer()).equals(xva));

  const { $sendTo } = (await api.request("vm.import", { sr: sr.id })) as {
    $sendTo: string;
  };
  const sent = await fetch(`${url}${$sendTo}`, { method: "POST", body: xva });
  const { result: vm } = (await sent.json()) as { result: string };
  t.match(await api.get(vm), {
    name_label: `a <b> & "c"`,
    power_state: "Halted",
    memory: (await api.get(source.id))["memory"] as object,
  });
  const disks = await disksOf(api, vm);
  t.equal(disks.length, 2);
  for (const [name, bytes] of Object.entries({ d0: first, d1: second })) {
    const disk = disks.find(({ name_label }) => name_label === name);
    t.ok(contentOf(pool, disk!.id, bytes.length).equals(bytes), name);
  }
  const { database } = pool;
  const record = database.get("VM", database.byUuid("VM", vm)!);
  t.same(record["NVRAM"], { "EFI-variables": "AAA=" });
  t.equal((record["VTPMs"] as string[]).length, 1);
  t.equal((record["VIFs"] as string[]).length > 0, true);
  // A damaged block is refused, because checksums are compared.
  xva[xva.indexOf(first.subarray(0, 512))]! ^= 1;
  const damaged = (await api.request("vm.import", { sr: sr.id })) as {
    $sendTo: string;
  };
  const refused = await fetch(`${url}${damaged.$sendTo}`, {
    method: "POST",
    body: xva,
  });
  t.match(await refused.text(), /CHECKSUMS_FAILED/);
});

t.test("a backup is restored over the VM, only differences", async (t) => {
  const { api, pool, repository, source, sr, store, calls, record } =
    await open(t);
  const first = content();
  const second = Buffer.from(first);
  randomBytes(64 * 1024).copy(second, 2 * MIB);
  // The VM has the first content, and a snapshot that a backup has marked.
  const whole = await store({ d0: first });
  const { id: vm } = (await api.request("backup.restore", {
    id: whole.id,
    sr: sr.id,
  })) as { id: string };
  const [vdi] = await disksOf(api, vm);
  const owner = { uuid: vm, name_label: "vm" };
  const recordsNow = () => ({ records: recordsOf(pool, vm) });
  const a = await storeBackup(
    repository,
    owner,
    { [vdi!.id]: first },
    recordsNow(),
  );
  const b = await storeBackup(
    repository,
    owner,
    { [vdi!.id]: second },
    recordsNow(),
  );
  await api.request("backupNg.listVmBackups", {
    remotes: [repository.id],
    _forceRefresh: true,
  });
  await api.request("vm.snapshot", { id: vm });
  const { snapshots } = record("VDI", vdi!.id);
  const snapshot = (snapshots as string[])[0]!;
  const uuid = pool.database.get("VDI", snapshot)["uuid"] as string;
  pool.database.update("VDI", snapshot, {
    other_config: {
      "xo:backup:job": "job",
      "xo:backup:uuid": uuid,
      "xo:backup:backup": `${repository.id}/${a}`,
    },
  });
  calls();
  await api.request("backup.restoreOver", { id: `${repository.id}/${b}`, vm });
  t.ok(calls().includes("VDI.clone"), "begins with the snapshot");
  const [now] = await disksOf(api, vm);
  t.not(now!.id, vdi!.id);
  t.ok(contentOf(pool, now!.id, second.length).equals(second));
  t.same(await api.all({ id: vdi!.id }), [], "the old disk is deleted");
  t.same(record("VM", vm)["blocked_operations"], {});
  const running = (await api.all({ type: "VM", power_state: "Running" }))[0];
  if (running !== undefined)
    t.match(
      await api.call("backup.restoreOver", { id: whole.id, vm: running.id }),
      { error: { code: 13 } },
    );
  t.ok(source);
});

t.test("a restore needs rights on all that it reaches", async (t) => {
  const { api, sr, store, source } = await open(t);
  const { id } = await store({ d0: content() });
  const { session: eve } = await api.signUp(t, "eve");
  for (const [method, params] of [
    ["backup.restore", { id, sr: sr.id }],
    ["backup.restoreDisk", { id, disk: "d0", sr: sr.id }],
    ["backup.restoreOver", { id, vm: source.id }],
    ["backup.downloadDisk", { id, disk: "d0" }],
    ["backup.downloadVm", { id }],
    ["backupNg.importVmBackup", { id, sr: sr.id, settings: {} }],
  ] as const)
    t.equal(codeOf(await eve.call(method, params)), "NO_SUCH_OBJECT", method);
  t.same(await eve.request("restoreLog.getAll"), []);
});

t.test(
  "a restore that fails leaves neither disks nor XAPI tasks",
  async (t) => {
    const { api, pool, sr, store } = await open(t);
    const { id } = await store({ d0: content(4 * MIB) });
    const disks = pool.database.table("VDI").rows.size;
    // XAPI starts no upload, and the control domain has the disk a moment longer.
    const method = "http/put_import_raw_vdi";
    pool.faults.set("http500", { value: true, method });
    pool.failNext("VDI.destroy", "VDI_IN_USE", ["", "destroy"], { times: 2 });
    const answer = await api.call("backup.restore", { id, sr: sr.id });
    t.equal(codeOf(answer), "BACKUP_TRANSFER_FAILED");
    t.equal(pool.database.table("VDI").rows.size, disks);
    const isLeft = () =>
      [...pool.database.records("task")].some(
        ([, { name_label }]) => name_label === "Restore of d0",
      );
    while (isLeft()) await pause(50);
  },
);
