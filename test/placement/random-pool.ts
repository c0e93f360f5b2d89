import type { PoolOptions, SimulatedPool } from "@xo-server/xapi-sim";
import { guestRefs, guestsOn, isUp } from "./pool-guard.js";

type Database = SimulatedPool["database"];

/** From a seed, the same numbers again. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** In [0, 1): mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  }

  /** From low to high, both among them. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)]!;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }
}

/** Small random pools. */
export function randomOptions(seed: number): PoolOptions {
  const random = new SeededRandom(seed);
  return {
    hosts: random.int(3, 5),
    vms: random.int(30, 70),
    seed,
    pace: 0.05,
    name: `seed ${seed}`,
  };
}

/** Little memory, anti-affinity groups, restart priorities, sometimes a disabled host. */
export function complicate({ database: db }: SimulatedPool, seed: number) {
  const random = new SeededRandom(seed ^ 0x5eed);
  for (const host of db.refs("host")) cutMemory(db, host, random);
  const guests = guestRefs(db);
  for (let i = 0; i < 2; i++) addGroup(db, guests, random);
  for (const vm of guests)
    if (random.chance(0.6))
      db.update("VM", vm, {
        ha_restart_priority: random.pick(["restart", "restart", "best-effort"]),
        order: random.int(0, 3),
        start_delay: random.int(0, 5),
      });
  const hosts = [...db.refs("host")];
  if (hosts.length > 3 && random.chance(0.5))
    db.update("host", random.pick(hosts), { enabled: false });
}

/** Uses a part of the free memory. */
function cutMemory(db: Database, host: string, random: SeededRandom): void {
  const metrics = db.get("host", host)["metrics"] as string;
  const { memory_total, memory_free } = db.get("host_metrics", metrics);
  const cut = Math.floor(Number(memory_free) * (0.6 + 0.38 * random.next()));
  db.update("host_metrics", metrics, {
    memory_total: Number(memory_total) - cut,
    memory_free: Number(memory_free) - cut,
  });
}

function addGroup(
  db: Database,
  guests: readonly string[],
  random: SeededRandom,
): void {
  const free = guests.filter(
    (vm) => (db.get("VM", vm)["groups"] as string[]).length === 0,
  );
  const group = db.create("VM_group", {
    uuid: `00000000-0000-4000-8000-${String(random.int(1, 999_999)).padStart(12, "0")}`,
    name_label: "anti-affinity",
    placement: "anti_affinity",
  });
  for (let i = 0; i < 3; i++)
    db.update("VM", random.pick(free), { groups: [group] });
}

/** Overloads one host; the others are nearly idle. @returns its reference */
export function overload(sim: SimulatedPool, seed: number): string {
  const { database: db } = sim;
  const random = new SeededRandom(seed ^ 0x10ad);
  const hosts = [...db.refs("host")].filter((host) => isUp(db, host));
  const host = random.pick(hosts);
  let left = (db.get("host", host)["host_CPUs"] as string[]).length;
  for (const vm of guestRefs(db)) sim.setLoad(vm, 0.02);
  const guests = guestsOn(db, host);
  for (const vm of guests) {
    const vcpus = Number(db.get("VM", vm)["VCPUs_at_startup"]);
    const load = Math.min(left, vcpus * 0.95);
    left -= load;
    sim.setLoad(vm, load);
  }
  return host;
}
