import type { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import type { startAll } from "./turn.js";

/** Services that start the VMs that a run has shut down for a host. */
export function startParts(
  journal: RollingJournal,
  host: string,
  vms: readonly string[],
  { objects }: Pick<RollingParts, "objects">,
): Parameters<typeof startAll>[1] {
  return {
    objects,
    shutDown: () => vms,
    keepShutDown: (left) =>
      journal.keep({ shutDown: { ...journal.record.shutDown, [host]: left } }),
  };
}
