import type { Survival } from "@xo-server/placement";
import type { Fleet } from "./fleet.js";

/** The failed hosts of an address. */
export function readFailed(query: unknown): readonly string[] {
  const [first] = Array.isArray(query) ? (query as unknown[]) : [query];
  if (typeof first !== "string") return [];
  return [...new Set(first.split(",").filter((id) => id !== ""))];
}

/** The parameter of the address; undefined: none. */
export function writeFailed(ids: readonly string[]): string | undefined {
  return ids.length === 0 ? undefined : ids.join(",");
}

/** Existing hosts that have not failed yet. */
export function ableToFail(
  ids: readonly string[],
  { hostOf }: Fleet,
): readonly string[] {
  return ids.filter((id) => (hostOf.get(id)?.state ?? "down") !== "down");
}

/** The ids with this one added or, if it is among them, removed. */
export function toggled(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
}

/**
 * The next host to fail: that of the worst case while the failed hosts are part
 * of it, else the host with the most memory of protected VMs.
 * @returns undefined: no host is left
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
