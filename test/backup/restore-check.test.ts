import { randomBytes } from "node:crypto";
import t from "tap";
import type { Thing } from "../api-session.js";
import { steer } from "../steered-pools.js";
import { createRepository } from "./repository-folders.js";
import { storeBackup } from "./stored-backups.js";
import { recordsOf } from "./vm-records.js";

t.comment("timeout=300000");

const MIB = 2 ** 20;

t.test("a backup is tested by a start in a closed network", async (t) => {
  const { api, pools, calls } = await steer(t, { hosts: 1, vms: 3 });
  const pool = pools[0]!;
  const repository = await createRepository(t, api);
  const vms = await api.all({ type: "VM" });
  const records = vms.map((vm) => recordsOf(pool, vm.id));
  // One whose guest has guest tools in the simulator.
  const at = records.findIndex(
    ({ VM }) =>
      (VM as { other_config: Record<string, string> }).other_config[
        "base_template_name"
      ] !== undefined,
  );
  const source = vms[Math.max(0, at)]!;
  const owner = { uuid: source.id, name_label: String(source["name_label"]) };
  const disks = { d0: randomBytes(2 * MIB) };
  const more = { records: records[Math.max(0, at)] };
  const backup = await storeBackup(repository, owner, disks, more);
  const id = `${repository.id}/${backup}`;
  const remotes = [repository.id];
  await api.ask("backupNg.listVmBackups", { remotes, _forceRefresh: true });
  const srs = await api.all({ type: "SR" });
  const sr = srs.find((one) => one["SR_type"] === "nfs") ?? srs[0]!;
  const count = (name: string) => pool.database.table(name).rows.size;
  const kinds = ["VM", "VDI", "VBD", "VIF", "network"];
  const before = kinds.map(count);
  calls();
  const params = { id, sr: sr.id, settings: {} };
  t.match(await api.ask("backupNg.checkBackup", params), {
    success: true,
    bootMs: Number,
    durationMs: Number,
  });
  const made = calls();
  for (const name of ["network.create", "VM.start", "VM.destroy"])
    t.ok(made.includes(name), name);
  t.same(kinds.map(count), before, "nothing is left");
  const shown = (await api.ask("backupArchive.get", { id })) as Thing;
  t.match(shown, { restoreTest: { success: true, time: Number } });

  pool.failNext("VM.start", "HOST_NOT_ENOUGH_FREE_MEMORY", ["1", "0"]);
  t.match(await api.ask("backupNg.checkBackup", params), {
    success: false,
    error: /HOST_NOT_ENOUGH_FREE_MEMORY/,
  });
  t.same(kinds.map(count), before, "nothing is left after a failure");
  t.match(await api.ask("backupArchive.get", { id }), {
    restoreTest: { success: false },
  });
});
