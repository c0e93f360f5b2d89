import type { RollingParts } from "./rolling-parts.js";
import {
  attachedPbds,
  turnsLeft,
  type RollingRecord,
  type Turn,
} from "./rolling-record.js";
import { isRebooting } from "./turn.js";

/**
 * Updates the turns of a run that begins, is resumed, or was suspended: in the
 * meantime other users may have rebooted hosts (in an update, these keep their turn
 * if they still lack updates), or changed their storage.
 */
export async function refreshTurns(
  record: RollingRecord,
  { objects, patches }: Pick<RollingParts, "objects" | "patches">,
): Promise<readonly Turn[]> {
  const turns = new Map(record.turns.map((turn) => [turn.host, turn]));
  for (const turn of turnsLeft(record, objects)) {
    const host = objects.get(turn.host, "host");
    const { startTime, power_state } = host.object;
    if (power_state !== "Running") continue;
    if (!isRebooting(host, turn)) {
      turns.set(turn.host, { ...turn, pbds: attachedPbds(host, objects) });
      continue;
    }
    if (record.kind !== "update" || startTime === turn.startTime) continue;
    const missing = (await patches?.again(host)) ?? [];
    if (missing.some(({ id }) => turn.updates?.includes(id)))
      turns.set(turn.host, { ...turn, startTime: startTime as number });
  }
  return [...turns.values()];
}
