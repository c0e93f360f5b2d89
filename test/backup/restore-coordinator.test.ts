import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { setFault } from "../simulated.js";
import { startStorageBench } from "../storage-bench.js";
import { createRepository } from "./repository-folders.js";
import { RESTORABLE } from "./restorable-vm.js";
import { storeBackup } from "./stored-backups.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=240000");

const MIB = 2 ** 20;

t.test(
  "a restore during which the coordinator changes fails, and leaves nothing",
  { timeout: 240_000 },
  async (t) => {
    const { admin, list, pool } = await startStorageBench(
      t,
      ...["--hosts", "2", "--vms", "3", "--members", "1"],
    );
    const repository = await createRepository(t, admin);
    const backup = await storeBackup(
      repository,
      { uuid: "00000000-0000-4000-8000-00000000000a", name_label: "db" },
      { system: randomBytes(4 * MIB), data: randomBytes(4 * MIB) },
      { records: RESTORABLE },
    );
    await admin.request("backupNg.listVmBackups", {
      remotes: [repository.id],
      _forceRefresh: true,
    });
    const [sr] = await list("srs", "SR_type:nfs");
    const disks = () => list("vdis");
    const before = (await disks()).length;
    // The control domain has the disks while they are written.
    const attached = async () => (await list("vbds", "attached?")).length;
    const usual = await attached();
    const method = "http/put_import_raw_vdi";
    await setFault(pool, "trickle", { value: MIB / 8, method });
    const restored = admin.call("backup.restore", {
      id: `${repository.id}/${backup}`,
      sr: sr!.id,
      name: "restored",
    });
    while ((await attached()) < usual + 2) await pause(50);
    const promoted = await fetch(`${pool.url}/sim/promote`, {
      method: "POST",
      body: "{}",
    });
    t.ok(promoted.ok);
    t.type((await restored).error, Object);
    t.equal((await disks()).length, before, "no disk is left");
    t.same(await list("vms", 'name_label:"restored"'), []);
  },
);
