import type {
  GroupModel,
  HostAffinityModel,
  PoolModel,
  VmModel,
} from "@xo-server/placement";
import { ha, up } from "./protected.js";
import { SeededRandom } from "./reference/index.js";

/**
 * Up to 6 hosts and 20 VMs that are not running and are known to fit: hosts are
 * cut into VMs, with little or nothing left; each VM is eligible for the host
 * that it was cut from and some others; some VMs of different hosts have
 * anti-affinity.
 */
export function filledPool(seed: number): PoolModel {
  const random = new SeededRandom(seed);
  const count = random.between(2, 6);
  const hosts = Array.from({ length: count }, (_, i) =>
    up(`h${i}`, random.between(8, 20)),
  );
  const cut = hosts.map(({ memory }) =>
    cutUp(random, memory / 2 ** 30, Math.floor(20 / count)),
  );
  const vms = cut.map((sizes, h) =>
    sizes.map((gib, i) => ha(`v${h}-${i}`, gib)),
  );
  const hostAffinities = random.chance(0.5) ? locationsOf(random, vms) : [];
  const groups = random.chance(0.5) ? groupsOf(random, vms) : [];
  return {
    hosts,
    vms: random.shuffled(vms.flat()),
    hostAffinities,
    groups,
  };
}

function cutUp(random: SeededRandom, gib: number, most: number): number[] {
  const sizes: number[] = [];
  let left = gib - (random.chance(0.3) ? 1 : 0);
  while (left > 0 && sizes.length < most) {
    const size = Math.min(left, random.between(2, 7));
    sizes.push(size);
    left -= size;
  }
  return sizes;
}

function locationsOf(
  random: SeededRandom,
  vms: readonly (readonly VmModel[])[],
): HostAffinityModel[] {
  return vms.flatMap((here, h) =>
    here
      .filter(() => random.chance(0.4))
      .map(({ id }) => ({
        id: `l-${id}`,
        vms: [id],
        score: Infinity,
        hosts: vms
          .map((_, other) => `h${other}`)
          .filter((_, other) => other === h || random.chance(0.5)),
      })),
  );
}

function groupsOf(
  random: SeededRandom,
  vms: readonly (readonly VmModel[])[],
): GroupModel[] {
  return [0, 1, 2].map((group) => ({
    id: `g${group}`,
    kind: "anti-affinity",
    required: true,
    vms: vms
      .filter((here) => here.length > 0 && random.chance(0.8))
      .map((here) => random.pick(here).id),
  }));
}
