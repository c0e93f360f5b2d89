import { inSteps } from "./disk-checks.js";
import type { HealthCheck } from "./health-check.js";

const duplicateMacs: HealthCheck = {
  name: "duplicateMacs",
  severity: "error",
  type: "VM",
  async find(reader) {
    // Snapshots and templates are left out, because they have the MAC addresses of their VMs.
    const vms = new Set((await reader.table("VM", ["power_state"])).ids);
    const { ids, column } = await reader.table("VIF", ["MAC", "$VM"]);
    const [mac, vm] = [column("MAC"), column("$VM")];
    const byMac = new Map<string, string[]>();
    await reader.runInSlices(
      inSteps(ids, (_, row) => {
        const owner = vm(row);
        if (typeof owner !== "string" || !vms.has(owner)) return;
        const address = String(mac(row)).toLowerCase();
        const owners = byMac.get(address);
        if (owners === undefined) byMac.set(address, [owner]);
        else owners.push(owner);
      }),
    );
    const found = new Map<string, { mac: string; others: string[] }>();
    await reader.runInSlices(
      inSteps([...byMac], ([address, owners]) => {
        if (owners.length === 1) return;
        for (const owner of new Set(owners)) {
          const others = owners.filter((other) => other !== owner);
          found.set(owner, { mac: address, others: others.slice(0, 8) });
        }
      }),
    );
    return reader.named("VM", found);
  },
};

const noGuestTools: HealthCheck = {
  name: "noGuestTools",
  severity: "warning",
  type: "VM",
  find: (reader) =>
    reader.filtered({
      type: "VM",
      filter: "power_state:/^Running$/ !managementAgentDetected?",
      fields: ["os_version"],
    }),
};

const vmRestartRequired: HealthCheck = {
  name: "vmRestartRequired",
  severity: "warning",
  type: "VM",
  find: (reader) =>
    reader.filtered({
      type: "VM",
      filter: "pendingGuidances:/^restart_(vm|device_model)$/",
      fields: ["pendingGuidances"],
      toDetails: ({ pendingGuidances }) => ({ guidances: pendingGuidances }),
    }),
};

const orphanVmSnapshots: HealthCheck = {
  name: "orphanVmSnapshots",
  severity: "info",
  type: "VM-snapshot",
  find: (reader) =>
    reader.filtered({
      type: "VM-snapshot",
      filter: "!$snapshot_of?",
      ...snapshotTime,
    }),
};

/** Age above which a snapshot is reported, in seconds. */
const OLD = 30 * 86_400;

const oldSnapshots: HealthCheck = {
  name: "oldSnapshots",
  severity: "info",
  type: "VM-snapshot",
  find: (reader) =>
    reader.filtered({
      type: "VM-snapshot",
      filter: `$snapshot_of? snapshot_time:<${reader.now - OLD}`,
      ...snapshotTime,
    }),
};

const snapshotTime = {
  fields: ["snapshot_time"],
  toDetails: ({ snapshot_time }: Readonly<Record<string, unknown>>) => ({
    time: snapshot_time,
  }),
};

export const vmChecks: readonly HealthCheck[] = [
  duplicateMacs,
  noGuestTools,
  vmRestartRequired,
  oldSnapshots,
  orphanVmSnapshots,
];
