import type { SimulatedPool } from "@xo-server/xapi-sim";
import { guestRefs } from "../placement/pool-guard.js";

type Database = SimulatedPool["database"];

interface Move {
  readonly vm: string;
  readonly from: string;
  readonly to: string;
  /** Whether the host that it left had been updated. */
  readonly leavesUpdated: boolean;
  /** The host that it left was the coordinator then. */
  readonly leavesCoordinator: boolean;
}

/**
 * Records of VMs while a rolling update is in progress: power states and
 * migrations. References.
 */
export class PoolLog {
  readonly #db: Database;
  readonly #homes = new Map<string, string>();
  readonly #places = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  readonly moves: Move[] = [];
  /** VMs that ran at first and were seen in another state. */
  readonly lost: string[] = [];

  constructor(db: Database) {
    this.#db = db;
    for (const [ref, host] of db.records("host"))
      this.#versions.set(ref, versionOf(host));
    for (const ref of this.running()) this.#homes.set(ref, this.#placeOf(ref));
    for (const [vm, host] of this.#homes) this.#places.set(vm, host);
    db.onChange(({ operation, className, ref }) => {
      if (className === "VM" && this.#homes.has(ref))
        this.#look(ref, operation);
    });
  }

  /** VMs that ran when the log was begun. */
  get watched(): readonly string[] {
    return [...this.#homes.keys()];
  }

  running(): readonly string[] {
    return guestRefs(this.#db).filter(
      (ref) => this.#db.get("VM", ref)["power_state"] === "Running",
    );
  }

  isUpdated(host: string): boolean {
    const record = this.#db.find("host", host);
    return (
      record !== undefined && versionOf(record) !== this.#versions.get(host)
    );
  }

  get areAllUpdated(): boolean {
    return [...this.#versions.keys()].every((host) => this.isUpdated(host));
  }

  /**
   * Unnecessary migrations: away from an updated host, unless the VM returns to its
   * first host; and more than two of one VM (three with the way back), and one for
   * each further coordinator that it has left, because a new coordinator is updated
   * next.
   */
  needless({ movesBack = false } = {}): readonly string[] {
    const counts = new Map<string, number>();
    const coordinators = new Map<string, number>();
    for (const { vm, leavesCoordinator } of this.moves) {
      counts.set(vm, (counts.get(vm) ?? 0) + 1);
      if (leavesCoordinator)
        coordinators.set(vm, (coordinators.get(vm) ?? 0) + 1);
    }
    const most = (vm: string) =>
      (movesBack ? 3 : 2) + Math.max(0, (coordinators.get(vm) ?? 0) - 1);
    const isHome = ({ vm, to }: Move) =>
      movesBack && this.#homes.get(vm) === to;
    return [
      ...this.moves
        .filter((move) => move.leavesUpdated && !isHome(move))
        .map(({ vm, from, to }) => `${vm} left ${from}, updated, for ${to}`),
      ...[...counts]
        .filter(([vm, count]) => count > most(vm))
        .map(([vm, count]) => `${vm} moved ${count} times`),
    ];
  }

  #look(vm: string, operation: string): void {
    if (operation === "del") {
      this.lost.push(`${vm}: deleted`);
      return;
    }
    const state = this.#db.get("VM", vm)["power_state"];
    if (state !== "Running") this.lost.push(`${vm}: ${JSON.stringify(state)}`);
    const [from, to] = [this.#places.get(vm), this.#placeOf(vm)];
    if (to === from || this.#db.find("host", to) === undefined) return;
    this.#places.set(vm, to);
    if (from === undefined) return;
    const [[, pool]] = [...this.#db.records("pool")] as [
      [string, Readonly<Record<string, unknown>>],
    ];
    this.moves.push({
      vm,
      from,
      to,
      leavesUpdated: this.isUpdated(from),
      leavesCoordinator: pool["master"] === from,
    });
  }

  #placeOf(vm: string): string {
    return this.#db.get("VM", vm)["resident_on"] as string;
  }
}

function versionOf(host: Readonly<Record<string, unknown>>): string {
  const software = host["software_version"] as Readonly<Record<string, string>>;
  return software["xapi_build"] ?? "";
}
