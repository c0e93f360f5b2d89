import { XoError } from "@xo-server/model";
import { AutomaticSettings } from "./automatic-settings.js";
import { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import { turnsLeft, type Turn } from "./rolling-record.js";
import { startParts } from "./start-parts.js";
import { stopRun, toStop } from "./stop-run.js";
import { isRebooting, startAll } from "./turn.js";
import { untilBack } from "../hosts/restart.js";

/**
 * Stops a run that is not continued after a restart of the server: enables hosts
 * that were disabled, waits for hosts that reboot, starts VMs that were shut down,
 * and restores HA and automatic power-on.
 * @param reason why the run is not continued
 * @returns the error for clients; undefined: the run has already stopped
 * @throws XoError INCORRECT_STATE: a user has resumed the run on this server
 */
export function stopOrphan(
  pool: string,
  reason: Error,
  parts: RollingParts,
): Promise<XoError | undefined> {
  const { records, work } = parts;
  const stop = async () => {
    const record = records.current(pool);
    if (record === undefined || record.stopped !== undefined) return undefined;
    const journal = new RollingJournal(record, parts);
    journal.at = "the restart of the server";
    await undoTurns(journal, parts);
    const settings = new AutomaticSettings(journal, parts);
    const cause = toCause(reason);
    const left = await stopRun(cause, journal, settings, parts);
    return toStop(cause, journal, parts, left);
  };
  return records.alone(pool, stop, work.lease);
}

/** Rephrases a missing right for administrators: the run had the rights of a user. */
function toCause(error: Error): Error {
  return new XoError("INTERRUPTED", {
    reason: `it is not resumed: ${whyOf(error)}`,
  });
}

function whyOf(error: Error): string {
  if (!(error instanceof XoError)) return error.message;
  const { permission, reason } = error.data;
  if (typeof permission === "string")
    return `its user has not the privilege ${permission} any more`;
  // For users without any right an object does not exist.
  if (error.code === "NO_SUCH_OBJECT")
    return "its user has no right on the pool any more";
  return typeof reason === "string" ? reason : error.message;
}

/** Undoes the turns. Failures become warnings, because abandoning the run tries again. */
async function undoTurns(
  journal: RollingJournal,
  parts: RollingParts,
): Promise<void> {
  const { objects, work } = parts;
  const orWarn = (error: unknown) => {
    work.warn((error as Error).message);
  };
  await Promise.all(
    turnsLeft(journal.record, objects).map((turn) =>
      enable(turn, parts).catch(orWarn),
    ),
  );
  for (const [host, vms] of Object.entries(journal.record.shutDown))
    await startAll(host, startParts(journal, host, vms, parts), true).catch(
      orWarn,
    );
}

async function enable(turn: Turn, parts: RollingParts): Promise<void> {
  const host = parts.objects.get(turn.host, "host");
  if (isRebooting(host, turn))
    await untilBack(turn.host, turn.startTime, parts);
  else if (host.object["enabled"] !== true)
    await host.xapi.call("host.enable", [host.ref]);
}
