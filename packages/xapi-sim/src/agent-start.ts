import type { SimulatorClock } from "./clock.js";
import type { Database } from "./database.js";

/** XAPI of a host has started: it writes the time into the record of the host, in seconds since the epoch. */
export function recordAgentStart(
  db: Database,
  clock: Pick<SimulatorClock, "now">,
  hostRef: string,
): void {
  const host = db.find("host", hostRef);
  if (host === undefined) return;
  const config = host["other_config"] as Record<string, string>;
  const before = Number.parseInt(config["agent_start_time"] ?? "0", 10);
  // No real toolstack starts twice within a second.
  const now = Math.max(before + 1, Math.floor(clock.now() / 1000));
  db.update("host", hostRef, {
    other_config: { ...config, agent_start_time: `${now}.` },
  });
}
