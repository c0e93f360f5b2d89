import type { Test } from "tap";
import {
  startPool,
  type Database,
  type PoolOptions,
  type SimulatedPool,
} from "../../src/index.js";
import type { XapiRecord } from "../../src/xapi-value.js";
import { TestClient } from "./raw-client.js";

/** A pool with a client of it, and what tests look for in it. */
export interface Side {
  readonly pool: SimulatedPool;
  readonly client: TestClient;
  readonly db: Database;
}

export async function startSide(
  t: Test,
  options: PoolOptions = {},
): Promise<Side> {
  const pool = await startPool({ pace: 0, prepare: ["json"], ...options });
  t.teardown(() => pool.stop());
  const client = await new TestClient(pool.url).logIn();
  return { pool, client, db: pool.database };
}

/** A guest in this state with one disk or more, without snapshots. */
export function guestOf({ db }: Side, state: string): string {
  for (const [ref, vm] of db.records("VM")) {
    const metrics = db.find("VM_guest_metrics", vm["guest_metrics"] as string);
    if (
      vm["power_state"] === state &&
      vm["is_a_template"] === false &&
      vm["is_control_domain"] === false &&
      (vm["snapshots"] as string[]).length === 0 &&
      disksOf(db, vm).length > 0 &&
      Object.keys(vm["blocked_operations"] as XapiRecord).length === 0 &&
      (state !== "Running" || metrics?.["PV_drivers_detected"] === true)
    )
      return ref;
  }
  throw new Error(`no guest is ${state}`);
}

export function disksOf(db: Database, vm: XapiRecord): readonly string[] {
  return (vm["VBDs"] as string[])
    .map((ref) => db.get("VBD", ref))
    .filter((vbd) => vbd["type"] === "Disk")
    .map((vbd) => vbd["VDI"] as string);
}

/** The first shared SR for disks, the management network, the coordinator. */
export function placesOf({ db }: Side): {
  readonly sr: string;
  readonly network: string;
  readonly host: string;
} {
  const host = [...db.records("pool")][0]![1]["master"] as string;
  const [sr] = [...db.records("SR")].find(
    ([, record]) =>
      record["shared"] === true && record["content_type"] !== "iso",
  )!;
  const pif = [...db.records("PIF")].find(
    ([, record]) => record["management"] === true && record["host"] === host,
  )!;
  return { sr, host, network: pif[1]["network"] as string };
}

/** Everything in a pool but what time and sessions change. */
export function picture(db: Database): ReadonlyMap<string, string> {
  const left = new Set(["session", "task", "message", "user"]);
  const objects = new Map<string, string>();
  for (const { className } of db.tables())
    if (!left.has(className))
      for (const [ref, record] of db.records(className))
        objects.set(`${className} ${ref}`, JSON.stringify(record, inOrder));
  return objects;
}

/** Sets and records have no order. */
function inOrder(_: string, value: unknown): unknown {
  if (Array.isArray(value)) return [...(value as readonly string[])].sort();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** What the picture of a pool has otherwise than before. */
export function changesSince(
  before: ReadonlyMap<string, string>,
  db: Database,
): readonly string[] {
  const now = picture(db);
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names]
    .filter((name) => before.get(name) !== now.get(name))
    .map((name) => `${name}: ${before.get(name)} -> ${now.get(name)}`);
}

/** Resolves when the task is over. @returns its record */
export async function outcome(db: Database, task: string): Promise<XapiRecord> {
  const over = () =>
    ["success", "failure", "cancelled"].includes(
      db.get("task", task)["status"] as string,
    );
  if (!over()) await change(db, over);
  return db.get("task", task);
}

/** Resolves after the change that makes the condition true. */
export function change(db: Database, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = db.onChange(() => {
      if (!holds()) return;
      stop();
      setImmediate(resolve);
    });
  });
}
