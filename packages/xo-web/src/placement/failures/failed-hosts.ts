import type { Survival } from "@xo-server/placement";
import type { Fleet } from "./fleet.js";

/** Which hosts fail, from the page's address. */
export function readFailed(query: unknown): readonly string[] {
  const [first] = Array.isArray(query) ? (query as unknown[]) : [query];
  if (typeof first !== "string") return [];
  return [...new Set(first.split(",").filter((id) => id !== ""))];
}

/** For the page's address; undefined: nothing. */
export function writeFailed(ids: readonly string[]): string | undefined {
  return ids.length === 0 ? undefined : ids.join(",");
}

/** Those that there are and that have not failed already. */
export function ableToFail(
  ids: readonly string[],
  { hostOf }: Fleet,
): readonly string[] {
  return ids.filter((id) => (hostOf.get(id)?.state ?? "down") !== "down");
}

export function toggled(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
}

/**
 * One more that fails: the next of the worst case while what has failed is part
 * of it, else the one with the most that has to restart.
 * @returns undefined: there is none left
 */
export function nextToFail(
  failed: readonly string[],
  { hosts, hostOf }: Fleet,
  worst: Survival["worst"],
): string | undefined {
  const isPart = failed.every((id) => worst?.hosts.includes(id));
  const next = worst?.hosts.find(
    (id) => !failed.includes(id) && hostOf.get(id)?.state !== "down",
  );
  if (isPart && next !== undefined && hostOf.has(next)) return next;
  let most: Fleet["hosts"][number] | undefined;
  for (const host of hosts) {
    if (host.state === "down" || failed.includes(host.id)) continue;
    if (most === undefined || host.protectedBytes > most.protectedBytes)
      most = host;
  }
  return most?.id;
}
