import t, { type Test } from "tap";
import type { ControlledPools } from "../controlled-pools.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { leftovers, MIB, runJob, withSmallDisks } from "./vm-with-disks.js";

t.comment("timeout=300000");

const RAW = "http/get_export_raw_vdi";
const XVA = "http/get_export";

function contentOf(
  { pools }: Pick<ControlledPools, "pools">,
  disk: string,
): Buffer {
  const bytes = Buffer.alloc(8 * MIB);
  pools[0]!.disks.read(disk, 0, bytes);
  return bytes;
}

/** A job over a VM with two disks, in a pool whose exports of disks fail. */
async function setUp(t: Test, repositories = 1) {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api, pools } = controlled;
  const ids: string[] = [];
  for (let i = 0; i < repositories; i++) {
    const { id } = await createRepository(t, api, { name: `r${i}` });
    ids.push(id);
  }
  const vm = await withSmallDisks(controlled, ["system", "data"]);
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: ids,
    retention: { keepLast: 7 },
  };
  const id = String(await api.request("job.create", { job }));
  pools[0]!.faults.set("http500", { value: true, method: RAW });
  return { ...controlled, vm, id, repository: ids[0]! };
}

t.test(
  "disks that can be read neither by NBD nor alone are taken from the export of the VM",
  async (t) => {
    const controlled = await setUp(t, 2);
    const { api, pools, vm, id, repository } = controlled;
    pools[0]!.faults.set("drop", { value: true, method: "nbd" });
    // No fault is injected, but exports are counted.
    const { injectedErrors } = pools[0]!;
    injectedErrors.add({ method: "http/get_export", delayMs: 1, times: 100 });
    const run = await runJob(api, id);
    t.equal(run.status, "success", JSON.stringify(run));
    const exports = 100 - injectedErrors.list()[0]!.times!;
    t.equal(exports, 2, "one for each repository, whatever disks there are");
    const [entry] = run.vms;
    t.equal(entry?.repositories?.length, 2);
    for (const { mode, disks = [] } of entry?.repositories ?? []) {
      t.equal(mode, "full");
      t.equal(disks.length, 2);
      for (const { source, reasons } of disks) {
        t.equal(source, "xva");
        t.ok(reasons?.[0], `the reason is in the log: ${reasons?.join()}`);
      }
    }
    t.equal(leftovers(controlled, vm.id).blocked.length, 0);

    const [sr] = await api.all({ type: "SR", SR_type: "nfs" });
    const { backup = "" } = entry!.repositories![0]!;
    const { id: restored } = (await api.request("backup.restore", {
      id: `${repository}/${backup}`,
      sr: sr!.id,
    })) as { id: string };
    const vbds = await api.all({
      type: "VBD",
      VM: restored,
      is_cd_drive: false,
    });
    t.equal(vbds.length, 2);
    for (const { VDI } of vbds) {
      const { name_label } = await api.get(String(VDI));
      const nth = name_label === "system" ? 0 : 1;
      const original = contentOf(controlled, vm.disks[nth]!);
      t.ok(
        contentOf(controlled, String(VDI)).equals(original),
        String(name_label),
      );
    }
  },
);

t.test("an export that is cut or damaged is not a backup", async (t) => {
  const controlled = await setUp(t);
  const { api, pools, vm, id } = controlled;
  const { faults } = pools[0]!;
  faults.set("drop", { value: true, method: "nbd" });
  for (const [fault, value] of [
    ["bitFlip", 700_000],
    ["earlyEnd", 900_000],
    ["cut", 900_000],
    ["errorInBody", 900_000],
  ] as const) {
    faults.set(fault, { value, method: XVA });
    const run = await runJob(api, id);
    t.equal(run.status, "failure", fault);
    const [entry] = run.vms[0]?.repositories ?? [];
    t.match(
      JSON.stringify(entry?.error),
      /source-invalid|transfer-failed|XVA|stream ends/,
      `${fault}: ${JSON.stringify(entry?.error)}`,
    );
    t.same(leftovers(controlled, vm.id).blocked, []);
    faults.set(fault, false);
  }
  t.same(await api.request("backupArchive.getAll"), []);
  const run = await runJob(api, id);
  t.equal(run.status, "success", JSON.stringify(run));
});
