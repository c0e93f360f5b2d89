import { Database, type Change } from "../src/database.js";
import { generateFleet } from "../src/fleet/generate-fleet.js";
import type { CallContext } from "../src/operation.js";
import { operations } from "../src/plugins.js";
import { PoolState } from "../src/pool-state.js";
import { createRandom } from "../src/random.js";
import { XapiFailure } from "../src/xapi-failure.js";
import type { FleetObject, XapiRecord, XapiValue } from "../src/xapi-value.js";

/** A pool to call operations on: time stands still, and waiting takes none. */
export interface TestPool {
  readonly db: Database;
  readonly state: PoolState;
  readonly context: CallContext;
  /** What has changed since the last look: `mod VM`, `add message`. */
  readonly changes: () => readonly string[];
  readonly call: (method: string, ...params: XapiValue[]) => Promise<unknown>;
  /** The code and parameters that a call fails with. */
  readonly failure: (
    method: string,
    ...params: XapiValue[]
  ) => Promise<readonly string[]>;
  /** A guest in this power state, with a disk. */
  readonly guest: (state: string) => string;
  readonly vm: (ref: string) => XapiRecord;
}

export const NOW = Date.UTC(2026, 10, 21, 12);

/** Generated fleets by size: hundreds of tests start with the same one. A database never changes records, it replaces them. */
const fleets = new Map<string, readonly FleetObject[]>();

function fleetOf(hosts: number, vms: number): readonly FleetObject[] {
  const size = `${hosts} hosts, ${vms} VMs`;
  const known = fleets.get(size);
  if (known !== undefined) return known;
  const fleet = [...generateFleet({ hosts, vms, seed: 3 })];
  fleets.set(size, fleet);
  return fleet;
}

export function createTestPool({ hosts = 3, vms = 40 } = {}): TestPool {
  const random = createRandom(1);
  const db = new Database(random);
  db.load(fleetOf(hosts, vms), true);
  const seen: Change[] = [];
  db.onChange((change) => seen.push(change));
  const context = createContext(db, random);
  const call = async (
    method: string,
    ...params: XapiValue[]
  ): Promise<unknown> => operations[method]!(context, params);
  return {
    db,
    state: context.state,
    context,
    call,
    changes: () =>
      seen
        .splice(0)
        .map(({ operation, className }) => `${operation} ${className}`),
    failure: async (method, ...params) => {
      try {
        await call(method, ...params);
      } catch (error) {
        if (error instanceof XapiFailure) return [error.code, ...error.params];
        throw error;
      }
      return [];
    },
    guest: (state) => findGuest(db, state),
    vm: (ref) => db.get("VM", ref),
  };
}

function createContext(
  db: Database,
  random: CallContext["random"],
): CallContext {
  const [poolRef] = [...db.refs("pool")];
  return {
    db,
    state: new PoolState(db),
    random,
    pool: {
      poolRef: poolRef!,
      coordinatorRef: () => db.get("pool", poolRef!)["master"] as string,
      addressOf: () => undefined,
      later: (_, work) => work(),
      setReachable: () => undefined,
      takeOver: () => true,
      urlOf: () => "http://127.0.0.1:1",
      openSession: () => "OpaqueRef:other-session",
    },
    session: { ref: "OpaqueRef:session", userName: "root" },
    task: undefined,
    clock: {
      now: () => NOW,
      setTimeout: () => 0,
      clearTimeout: () => undefined,
    },
    delay: () => Promise.resolve(),
  };
}

function findGuest(db: Database, state: string): string {
  for (const [ref, vm] of db.records("VM")) {
    const metrics = db.find("VM_guest_metrics", vm["guest_metrics"] as string);
    if (
      vm["power_state"] === state &&
      vm["is_a_template"] === false &&
      vm["is_control_domain"] === false &&
      Object.keys(vm["blocked_operations"] as XapiRecord).length === 0 &&
      (state !== "Running" || metrics?.["PV_drivers_detected"] === true)
    )
      return ref;
  }
  throw new Error(`no guest is ${state}`);
}
