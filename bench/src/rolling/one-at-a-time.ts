import type { PoolModel } from "@xo-server/placement";

/** What an algorithm does to a pool: hosts that are down together, and the migrations before, by source host. */
export interface Step {
  readonly hosts: readonly string[];
  readonly moves: readonly { readonly vm: string; readonly from: string }[];
}

/**
 * The algorithm of the reference, as its sources have it: one host after another, each VM to the host
 * with the most free memory, updated or not; at the end each VM back to where it was.
 */
export function oneAtATime(
  { hosts, vms }: PoolModel,
  first: string,
): { readonly steps: readonly Step[]; readonly back: Step["moves"] } {
  const at = new Map(vms.map(({ id, host }) => [id, host!]));
  const free = new Map(hosts.map(({ id, memory }) => [id, memory]));
  for (const { host, memory } of vms)
    free.set(host!, free.get(host!)! - memory);
  const order = [
    first,
    ...hosts.map(({ id }) => id).filter((id) => id !== first),
  ];
  const steps = order.map((host): Step => {
    const moves: { vm: string; from: string }[] = [];
    for (const { id, memory } of vms) {
      if (at.get(id) !== host) continue;
      const [target] = [...free]
        .filter(([other, bytes]) => other !== host && bytes >= memory)
        .sort((a, b) => b[1] - a[1]);
      if (target === undefined) continue;
      at.set(id, target[0]);
      free.set(target[0], target[1] - memory);
      free.set(host, free.get(host)! + memory);
      moves.push({ vm: id, from: host });
    }
    return { hosts: [host], moves };
  });
  const back = vms
    .filter(({ id, host }) => at.get(id) !== host)
    .map(({ id }) => ({ vm: id, from: at.get(id)! }));
  return { steps, back };
}
