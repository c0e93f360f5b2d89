import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { CleanupSite } from "./cleanup-site.js";
import { runJob } from "./vm-with-disks.js";

// Real programs on a busy machine.
t.comment("timeout=600000");

t.test(
  "a killed server takes no other snapshot for a stored backup; tracking data goes with its disk",
  { timeout: 600_000 },
  async (t) => {
    const site = await CleanupSite.create(t);
    const { sim, vm } = site;
    const purging = await site.createJob("purging", true);
    await site.write(1);
    t.equal((await runJob(site.api, purging)).status, "success");
    await site.write(2);
    // The snapshot is deleted; its disks still have their data.
    await site.killAt(purging, "VDI.data_destroy");
    for (const disk of vm.disks) {
      const snapshots = await site.snapshotsOf(disk);
      t.equal(snapshots.length, 1, "one snapshot of each disk");
      const type = await sim.call("VDI.get_type", [snapshots[0]]);
      t.equal(type, "cbt_metadata", "without data");
    }
    await site.compareNext(purging);

    const keeping = await site.createJob("keeping", false);
    await site.killAt(
      keeping,
      "VM.remove_from_blocked_operations",
      async () => {
        const ref = await sim.call("VM.get_by_uuid", [vm.id]);
        const found = await sim.call("VM.get_snapshots", [ref]);
        const [snapshot] = found as string[];
        t.ok(snapshot, "an administrator deletes the snapshot of the run");
        await sim.call("VM.destroy", [snapshot]);
        for (const disk of vm.disks)
          for (const one of await site.snapshotsOf(disk))
            if ((await sim.call("VDI.get_type", [one])) !== "cbt_metadata")
              await sim.call("VDI.destroy", [one]);
      },
    );
    await site.compareNext(keeping);

    const trackingData = () =>
      site.api.all({ type: "VDI-snapshot", VDI_type: "cbt_metadata" });
    t.equal((await trackingData()).length, 2, "of the job that purges");
    await site.api.request("vm.delete", { id: vm.id });
    await site.stop();
    await site.start();
    while ((await trackingData()).length > 0) await pause(100);
    t.pass("the next start deletes tracking data of disks that are gone");
    await site.stop();
  },
);
