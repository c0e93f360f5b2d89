import { total, type Counts } from "./counts.js";

/** Hosts by their states. */
export async function hostStates(counts: Counts) {
  const [enabled, disabled] = await Promise.all([
    counts.by("host", "power_state", "enabled?"),
    counts.by("host", "power_state", "!enabled?"),
  ]);
  const of = (state: string) =>
    (enabled.get(state) ?? 0) + (disabled.get(state) ?? 0);
  const all = total(enabled) + total(disabled);
  const halted = of("Halted");
  return {
    running: enabled.get("Running") ?? 0,
    disabled: disabled.get("Running") ?? 0,
    halted,
    unknown: all - of("Running") - halted,
    total: all,
  };
}

/** VMs by their states; active VMs are those that occupy memory of a host. */
export async function vmStates(counts: Counts) {
  const states = await counts.by("VM", "power_state");
  const of = (state: string) => states.get(state) ?? 0;
  const [running, paused] = [of("Running"), of("Paused")];
  const [suspended, halted] = [of("Suspended"), of("Halted")];
  const all = total(states);
  const active = running + paused;
  const inactive = suspended + halted;
  return {
    running,
    paused,
    suspended,
    halted,
    active,
    inactive,
    unknown: all - active - inactive,
    total: all,
  };
}

/** Sizes of SRs for disks, in bytes. */
export async function storageSizes(counts: Counts) {
  const disks = "size:>0 !content_type:/^iso$/";
  const [size, used] = await Promise.all([
    counts.sum("SR", "size", disks),
    counts.sum("SR", "physical_usage", disks),
  ]);
  // Without backups no replicas are distinguished.
  return {
    total: size,
    used,
    available: size - used,
    replicated: 0,
    other: used,
  };
}
