import type { Policy } from "../../src/balancer/policy.js";
import type { BalancerBench, BalancerServer } from "./balancer-bench.js";
import { SECOND } from "./balancer-bench.js";

const HOSTS = 5;
const VMS = 30;

/** A pool to which everything happens; each move is held against the rules as it begins. */
export class RandomPool {
  readonly policy: Policy = {
    mode: "automatic",
    goal: "performance",
    cpuHigh: 0.8,
    cpuLow: 0.6,
    memoryHigh: 0.9,
    migrationCost: 0.001,
    maxMigrationsPerRun: 4,
    parallel: 2,
    intervalSeconds: 60,
    coolDownSeconds: 300,
    holdSeconds: 0,
    excludedTags: ["stay"],
    enforceRules: true,
  };
  /** What was against the rules. */
  readonly broken: string[] = [];
  readonly #bench: BalancerBench;
  readonly #movedAt = new Map<string, number>();
  #state: number;
  #created = 0;
  #isOn = true;

  constructor(bench: BalancerBench, seed: number) {
    this.#bench = bench;
    this.#state = seed >>> 0 || 1;
  }

  begin(): void {
    const { pool } = this.#bench;
    for (let host = 0; host < HOSTS; host++) pool.addHosts(`host${host}`);
    for (let vm = 0; vm < VMS; vm++) this.#addVm();
    pool.onMove = (vm) => {
      this.#hold(vm);
    };
  }

  /** Something happens. */
  async change(server: BalancerServer): Promise<void> {
    const { pool, clock } = this.#bench;
    const vm = this.#pick([...pool.vms.keys()]);
    const host = this.#pick([...pool.hosts.keys()]);
    const roll = this.#pickBelow(12);
    if (roll < 4 && vm !== undefined)
      pool.vms.get(vm)!.load = this.#pickBelow(30) / 10;
    else if (roll < 6) this.#addVm();
    else if (roll === 6 && vm !== undefined) pool.vms.delete(vm);
    else if (roll === 7 && vm !== undefined)
      pool.vms.get(vm)!.tags = this.#pickBelow(2) === 0 ? ["stay"] : [];
    else if (roll === 8) this.#failOrRepair(host!);
    else if (roll === 9)
      pool.rollingSince =
        pool.rollingSince === undefined ? clock.now() : undefined;
    else if (roll === 10) {
      this.#isOn = !this.#isOn;
      await server.set({ mode: this.#isOn ? "automatic" : "off" });
    } else pool.hosts.get(host!)!.operations = [];
    // What is bad lasts a step or two.
    if (this.#pickBelow(2) === 0) pool.rollingSince = undefined;
  }

  #hold(vm: string): void {
    const { pool, clock } = this.#bench;
    const now = clock.now();
    const { host, tags } = pool.vms.get(vm)!;
    const movedAt = this.#movedAt.get(vm) ?? -Infinity;
    const [, to] = pool.asked.at(-1)!;
    const target = pool.hosts.get(to)!;
    const rules: [boolean, string][] = [
      [this.#isOn, "it was off"],
      [pool.rollingSince === undefined, "a rolling reboot was under way"],
      [now - movedAt >= this.policy.coolDownSeconds * SECOND, "it was cooling"],
      [!tags.includes("stay"), "it is to stay"],
      [target.isUp && target.isEnabled, "the host takes none"],
      [host !== to, "it is there"],
      [this.#gibOn(to, vm) <= 64, "there is no room"],
    ];
    for (const [holds, rule] of rules)
      if (!holds) this.broken.push(`${vm} to ${to}: ${rule}`);
    this.#movedAt.set(vm, now);
  }

  #gibOn(host: string, coming: string): number {
    let gib = 0;
    for (const [id, vm] of this.#bench.pool.vms)
      if (vm.host === host || id === coming) gib += vm.gib;
    return gib;
  }

  #addVm(): void {
    const { pool } = this.#bench;
    const gib = 1 + this.#pickBelow(6);
    const id = `vm${this.#created++}`;
    const hosts = [...pool.hosts]
      .filter(([, { isUp }]) => isUp)
      .map(([host]) => host)
      .filter((host) => this.#gibOn(host, "") + gib <= 64);
    // The first few get most.
    const host = hosts[this.#pickBelow(this.#pickBelow(hosts.length) + 1)];
    if (host === undefined) return;
    const load = this.#pickBelow(20) / 10;
    pool.addVm(id, host, { gib, load });
  }

  /** What ran there starts elsewhere, as far as there is room, as HA would have it. */
  #failOrRepair(id: string): void {
    const { pool } = this.#bench;
    const host = pool.hosts.get(id)!;
    const up = [...pool.hosts.values()].filter(({ isUp }) => isUp).length;
    if (host.isUp && up <= 3) return;
    host.isUp = !host.isUp;
    for (const [vm, one] of pool.vms) {
      if (host.isUp || one.host !== id) continue;
      const other = [...pool.hosts.keys()].find(
        (to) => pool.hosts.get(to)!.isUp && this.#gibOn(to, vm) <= 64,
      );
      if (other === undefined) pool.vms.delete(vm);
      else one.host = other;
    }
  }

  #pick<T>(values: readonly T[]): T | undefined {
    return values[this.#pickBelow(values.length)];
  }

  /** xorshift32 */
  #pickBelow(bound: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return bound === 0 ? 0 : this.#state % bound;
  }
}
