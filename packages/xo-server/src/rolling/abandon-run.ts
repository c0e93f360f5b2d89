import type { PoolObject } from "../objects/pool-objects.js";
import { AutomaticSettings } from "./automatic-settings.js";
import { notRestored } from "./not-restored.js";
import { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import { startParts } from "./start-parts.js";
import { startAll } from "./turn.js";

/**
 * Ends a run that has stopped: starts VMs that are still shut down, and restores HA
 * and automatic power-on.
 * @param isForced ends the run even if the pool refuses that; the VMs and settings
 * then stay as they are, with a warning
 * @throws XoError INCORRECT_STATE: no run has stopped; errors of the pool: the run
 * can be abandoned again
 */
export async function abandonRun(
  pool: PoolObject,
  parts: RollingParts,
  isForced: boolean,
): Promise<void> {
  const { records, objects, work } = parts;
  const abandon = async () => {
    const journal = new RollingJournal(records.stopped(pool.id), parts);
    const settings = new AutomaticSettings(journal, parts);
    const orWarn = (cause: unknown, warning: string) => {
      if (!isForced) throw cause;
      work.warn(warning);
    };
    for (const [host, vms] of Object.entries(journal.record.shutDown))
      await startAll(host, startParts(journal, host, vms, parts), true).catch(
        (cause: unknown) => {
          const { message } = cause as Error;
          orWarn(cause, `VMs that were shut down are not started: ${message}`);
        },
      );
    await settings.restore(objects).catch((cause: unknown) => {
      orWarn(cause, notRestored(cause as Error, journal.record, objects));
    });
    await journal.keepLast();
    await journal.forget();
  };
  await records.alone(pool.id, abandon, work.lease);
}
