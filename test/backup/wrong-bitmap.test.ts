import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import type { Thing } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { MIB, runJob, smallDisks, write } from "./vm-with-disks.js";

t.comment("timeout=480000");

t.test(
  "a wrong bitmap of changed blocks is found, and raises an alarm",
  async (t) => {
    const controlled = await startControlled(t, { hosts: 1, vms: 6 });
    const { api, pools } = controlled;
    const pool = pools[0]!;
    const { id: repository } = await createRepository(t, api);
    const vm = await smallDisks(api, ["system"]);
    const [disk = ""] = vm.disks;
    const job = {
      type: "backup",
      name: "nightly",
      vms: [vm.id],
      repositories: [repository],
      retention: { keepLast: 9 },
    };
    const id = String(await api.request("job.create", { job }));
    t.equal((await runJob(api, id)).status, "success");

    // All blocks change; the pool reports none of them.
    write(pool, disk, 0, 8 * MIB);
    pool.faults.set("cbtOmits", 128);
    const run = await runJob(api, id);
    t.equal(run.status, "success");
    const [found] = run.vms[0]?.repositories?.[0]?.disks ?? [];
    t.match(found, { source: "nbd-changed", changed: 8 * MIB }, "all was read");
    t.ok((found as unknown as { mismatches: number }).mismatches > 0);
    pool.faults.clear();

    const { backup } = run.vms[0]!.repositories![0]!;
    const raw = await api.rest(
      "GET",
      `/backup-archives/${encodeURIComponent(`${repository}/${backup}`)}/disks/${disk}.raw`,
    );
    const content = Buffer.alloc(8 * MIB);
    pool.disks.read(disk, 0, content);
    t.ok(Buffer.from(await raw.arrayBuffer()).equals(content), "it is right");

    const isRaised = async () => {
      const alarms = (await api.request("alarm.getAll")) as Thing[];
      return alarms.some(
        ({ ruleName, text }) =>
          ruleName === "Backup: changed block tracking was wrong" &&
          String(text).includes("nightly"),
      );
    };
    // The server's own values are checked every 10 seconds.
    while (!(await isRaised())) await pause(200);
    t.pass("an alarm is raised");
  },
);
