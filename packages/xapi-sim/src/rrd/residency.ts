import type { Database } from "../database.js";
import { refIn, refs, text } from "../records/fields.js";
import { startOf } from "./vm-runs.js";
import { loadOf, type Load } from "./loads.js";

/** A VM's time on a host, Unix seconds, and what it had to do. */
interface Residency {
  readonly from: number;
  readonly to: number;
  readonly load: Load;
}

/** Of each host that many are remembered. */
const MOST_STAYS = 256;

interface Log {
  /** By host. */
  readonly past: Map<string, Residency[]>;
  /** By VM: when it came to where it is, unless it started there. */
  readonly arrivals: Map<string, number>;
}

const byPool = new WeakMap<Database, Log>();

function logOf(db: Database): Log {
  const log = byPool.get(db) ?? { past: new Map(), arrivals: new Map() };
  byPool.set(db, log);
  return log;
}

/** Notes that the VM leaves the host that it is on. @param now Unix seconds */
export function endResidency(db: Database, vm: string, now: number): void {
  const { past, arrivals } = logOf(db);
  const host = text(db.get("VM", vm), "resident_on");
  const stays = past.get(host) ?? [];
  past.set(host, stays);
  stays.push({ from: arrival(db, vm), to: now, load: loadOf(db, vm) });
  if (stays.length > MOST_STAYS) stays.shift();
  arrivals.delete(vm);
}

/** Notes that a VM that goes on comes to another host. @param now Unix seconds */
export function beginResidency(db: Database, vm: string, now: number): void {
  logOf(db).arrivals.set(vm, now);
}

function arrival(db: Database, vm: string): number {
  const came = logOf(db).arrivals.get(vm);
  return came ?? startOf(db, db.get("VM", vm)) ?? -Infinity;
}

/** The VMs that run on a host, dom0 among them. */
export function vmsOn(db: Database, host: string): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter(
    (vm) => refIn(db.get("VM", vm), "metrics") !== undefined,
  );
}

/** Cores of a host that its VMs, domain 0 among them, kept busy at a moment. Each moment is added up once. */
export function loadOn(db: Database, host: string): Load {
  const present = vmsOn(db, host).map((vm) => ({
    from: arrival(db, vm),
    to: Infinity,
    load: loadOf(db, vm),
  }));
  const stays = [...(logOf(db).past.get(host) ?? []), ...present];
  const known = new Map<number, number>();
  return (seconds) => {
    const before = known.get(seconds);
    if (before !== undefined) return before;
    let sum = 0;
    for (const { from, to, load } of stays)
      if (seconds >= from && seconds < to) sum += load(seconds);
    known.set(seconds, sum);
    return sum;
  };
}
