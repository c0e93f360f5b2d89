import type { SimulatedPool } from "@xo-server/xapi-sim";

type Refs = readonly string[];
type Database = SimulatedPool["database"];

/** A live migration of a VM. */
export interface SeenMove {
  /** uuids */
  readonly vm: string;
  readonly from: string;
  readonly to: string;
  /** By the pool's clock, ms. */
  readonly at: number;
}

/** Observes every change of a simulated pool and records violations of invariants. */
export class PoolGuard {
  readonly moves: SeenMove[] = [];
  /** Violations, as text. */
  readonly violations: string[] = [];
  readonly #db: Database;
  readonly #now: () => number;
  readonly #places = new Map<string, string>();

  constructor({ database }: SimulatedPool, now: () => number) {
    this.#db = database;
    this.#now = now;
    for (const ref of guestRefs(database)) this.#note(ref);
    database.onChange(({ operation, className, ref }) => {
      if (operation === "del") return;
      if (className === "VM") this.#lookAtVm(ref);
      if (className === "host_metrics") this.#lookAtMetrics(ref);
    });
  }

  /**
   * Memory of each host for guests in bytes, used and free: constant as long as the
   * hosts are the same.
   */
  memory(): Readonly<Record<string, number>> {
    const db = this.#db;
    return Object.fromEntries(
      [...db.records("host")].map(([ref, host]) => {
        const { memory_free } = db.get("host_metrics", text(host, "metrics"));
        const used = guestsOn(db, ref).map((vm) => {
          const { memory_dynamic_max, memory_overhead } = db.get("VM", vm);
          return Number(memory_dynamic_max) + Number(memory_overhead);
        });
        const sum = used.reduce((a, b) => a + b, 0);
        return [text(host, "uuid"), Number(memory_free) + sum];
      }),
    );
  }

  #lookAtMetrics(ref: string): void {
    const { memory_free } = this.#db.get("host_metrics", ref);
    if (Number(memory_free) < 0)
      this.violations.push(`${ref} has ${Number(memory_free)} bytes free`);
  }

  #lookAtVm(ref: string): void {
    const before = this.#places.get(ref);
    this.#note(ref);
    const now = this.#places.get(ref);
    if (now === undefined || now === before) return;
    const [vm, to] = [this.#uuid("VM", ref), this.#uuid("host", now)];
    if (!isUp(this.#db, now))
      this.violations.push(`${vm} has come to ${to}, which takes none`);
    if (before === undefined || this.#db.find("host", before) === undefined)
      return;
    const from = this.#uuid("host", before);
    this.moves.push({ vm, from, to, at: this.#now() });
  }

  #note(ref: string): void {
    const vm = this.#db.find("VM", ref);
    const host = vm === undefined ? "" : text(vm, "resident_on");
    if (this.#db.find("host", host) === undefined) this.#places.delete(ref);
    else this.#places.set(ref, host);
  }

  #uuid(className: string, ref: string): string {
    return text(this.#db.get(className, ref), "uuid");
  }
}

export function isUp(db: Database, host: string): boolean {
  const { metrics, enabled } = db.get("host", host);
  const { live } = db.get("host_metrics", metrics as string);
  return live === true && enabled === true;
}

/** VMs that are neither templates, snapshots nor control domains. */
export function guestRefs(db: Database): string[] {
  return [...db.records("VM")]
    .filter(
      ([, vm]) => vm["is_a_template"] !== true && !vm["is_control_domain"],
    )
    .map(([ref]) => ref);
}

export function guestsOn(db: Database, host: string): Refs {
  return (db.get("host", host)["resident_VMs"] as Refs).filter(
    (vm) => db.get("VM", vm)["is_control_domain"] === false,
  );
}

function text(record: Readonly<Record<string, unknown>>, name: string) {
  return record[name] as string;
}
