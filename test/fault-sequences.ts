import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { silentLogger, type Logger } from "@xo-server/kit";
import { createInventory, type Inventory } from "@xo-server/inventory";
import { createParserPool } from "@xo-server/parser-pool";
import {
  startPool,
  type FaultName,
  type SimulatedPool,
} from "@xo-server/xapi-sim";
import { createXapi } from "@xo-server/xen-api";

/** A number below `bound`; the same sequence for the same seed. */
export type Random = (bound: number) => number;

/** mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

/**
 * A change that is not visible after this time, in ms, while the pool is
 * reported as current, is a lie of the mirror. Above the time after which the
 * client below gives up a silent event.from, with room for a busy machine.
 */
const MAX_UNKNOWN_MS = 15_000;
/** Limit for the mirror to be equal after the faults have ended, in ms. */
const MAX_RECOVERY_MS = 90_000;

const listings = [
  "VM",
  "VBD",
  "VDI",
  "host",
  "SR",
  "VM_metrics",
  "task",
] as const;
const listingErrors = [
  "INTERNAL_ERROR",
  "HANDLE_INVALID",
  "MESSAGE_METHOD_UNKNOWN",
  "MESSAGE_REMOVED",
  "RBAC_PERMISSION_DENIED",
] as const;
const brokenAnswers = [
  "cut",
  "truncated",
  "badJson",
  "invalidUtf8",
  "http500",
] as const;

interface Fault {
  readonly name: string;
  readonly apply: (pool: SimulatedPool, random: Random) => void;
}

const loseSession = (pool: SimulatedPool) => {
  pool.faults.set("sessionInvalid", { value: true, times: 1 });
};

const broken = (name: FaultName, method: string, times: number): Fault => ({
  name: `${name} ${method} ${times}`,
  apply: (pool) => {
    const value = name === "cut" || name === "truncated" ? 100 : true;
    pool.faults.set(name, { value, method, times });
    if (method.endsWith("get_all_records")) loseSession(pool);
  },
});

const slow = (method: string, delayMs: number): Fault => ({
  name: `delay ${method} ${delayMs}`,
  apply: (pool) => {
    pool.faults.set("delay", { value: delayMs, method });
  },
});

const refusedListing = (className: string, error: string): Fault => ({
  name: `${className} ${error}`,
  apply: (pool, random) => {
    const method = `${className}.get_all_records`;
    pool.failNext(method, error, [method, "injected"], {
      times: 1 + random(2),
    });
    loseSession(pool);
  },
});

const plain: readonly Fault[] = [
  { name: "session lost", apply: loseSession },
  {
    name: "events lost",
    apply: (pool) => {
      pool.faults.set("eventsLost", { value: true, times: 1 });
    },
  },
  {
    name: "booting",
    apply: (pool) => {
      pool.faults.set("booting", true);
      loseSession(pool);
    },
  },
  ...(["hang", "drop", "stall"] as const).map((name): Fault => ({
    name: `${name} event.from`,
    apply: (pool) => {
      pool.faults.set(name, { value: 100, method: "event.from" });
    },
  })),
  {
    // As a host that boots, or a proxy before it.
    name: "two logins fail",
    apply: (pool) => {
      const method = "session.login_with_password";
      pool.faults.set("http500", { value: true, method, times: 2 });
      loseSession(pool);
    },
  },
  {
    name: "silent",
    apply: (pool) => {
      pool.faults.set("silent", true);
    },
  },
  {
    // A restored database: XAPI has restarted.
    name: "rewind",
    apply: (pool) => {
      pool.rewind(5);
      loseSession(pool);
    },
  },
  {
    name: "trickle",
    apply: (pool) => {
      pool.faults.set("trickle", { value: 20_000, method: "event.from" });
    },
  },
  {
    // More than the pool remembers: the deletions of some are dropped.
    name: "700 tasks destroyed",
    apply: ({ database }) => {
      const refs = Array.from({ length: 700 }, () =>
        database.create("task", { name_label: "short-lived" }),
      );
      for (const ref of refs) database.destroy("task", ref);
    },
  },
];

function randomFault(random: Random): Fault {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  switch (random(5)) {
    case 0:
      return refusedListing(pick(listings), pick(listingErrors));
    case 1:
      return broken(
        pick(brokenAnswers),
        `${pick(listings)}.get_all_records`,
        1 + random(2),
      );
    case 2:
      return broken(pick(brokenAnswers), "event.from", 1 + random(4));
    case 3:
      return slow(pick(["event.from", "VM.get_all_records"]), random(3_000));
    default:
      return pick(plain);
  }
}

/** What went wrong in a sequence; empty: nothing. */
export interface SequenceResult {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly problems: readonly string[];
  /** From the end of the faults until the mirror was equal and current. */
  readonly recoveryMs: number;
  /** Longest time that a change was unknown while the pool was reported as current. */
  readonly longestUnknownMs: number;
}

/** A simulated pool with churn, and its mirror. */
export class FaultBench {
  readonly #pool: SimulatedPool;
  readonly #inventory: Inventory;
  readonly #stop: () => Promise<void>;

  /** @param logger receives what the mirror logs */
  static async start(logger: Logger = silentLogger): Promise<FaultBench> {
    const pool = await startPool({
      hosts: 2,
      vms: 10,
      prepare: ["json"],
      churn: 50,
    });
    const decoder = createParserPool({ maxThreads: 1 });
    const xapi = createXapi({
      hosts: pool.url,
      user: pool.user,
      password: pool.password,
      transport: "json-rpc",
      decoder,
      throttleMs: 20,
      connectTimeoutMs: 1_000,
      callTimeoutMs: 5_000,
      eventTimeoutMs: 1_000,
      eventGraceMs: 1_000,
      backoff: { firstMs: 20, maxMs: 500, authMs: 500 },
    });
    const inventory = createInventory({
      logger,
      backoff: { firstMs: 50, maxMs: 1_000 },
    });
    inventory.addPool("p", xapi);
    xapi.connect().catch(() => undefined);
    return new FaultBench(pool, inventory, async () => {
      await xapi.disconnect();
      await inventory.stop();
      await pool.stop();
      await decoder.close();
    });
  }

  private constructor(
    pool: SimulatedPool,
    inventory: Inventory,
    stop: () => Promise<void>,
  ) {
    this.#pool = pool;
    this.#inventory = inventory;
    this.#stop = stop;
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** Applies 3 to 7 random faults, then waits until the mirror is equal. */
  async run(seed: number): Promise<SequenceResult> {
    const random = seededRandom(seed);
    const marker = new Marker(this.#pool, this.#inventory);
    const faults: string[] = [];
    const problems: string[] = [];
    this.#pool.setChurn(50);
    for (let step = 3 + random(5); step > 0; step--) {
      const fault = randomFault(random);
      faults.push(fault.name);
      fault.apply(this.#pool, random);
      await marker.watch(50 + random(800));
      if (random(2) === 0) this.#pool.faults.clear();
    }
    this.#pool.faults.clear();
    this.#pool.injectedErrors.clear();
    this.#pool.setChurn(0);
    const endedAt = performance.now();
    const isEqual = await this.#untilEqual(marker);
    const recoveryMs = performance.now() - endedAt;
    if (!isEqual) problems.push(`not equal: ${this.#difference() ?? "stale"}`);
    else problems.push(...(await this.#verify()));
    const { longestUnknownMs } = marker;
    if (longestUnknownMs > MAX_UNKNOWN_MS)
      problems.push(
        `reported as current without a change of ${Math.round(longestUnknownMs)} ms ago`,
      );
    return { seed, faults, problems, recoveryMs, longestUnknownMs };
  }

  async #untilEqual(marker: Marker): Promise<boolean> {
    const until = performance.now() + MAX_RECOVERY_MS;
    while (performance.now() < until) {
      await marker.watch(100);
      const { state, staleSince } = this.#inventory.poolStatus("p")!;
      if (state !== "watching" || staleSince !== undefined) continue;
      if (this.#difference() === undefined) return true;
    }
    return false;
  }

  /** The check of the product must agree. */
  async #verify(): Promise<string[]> {
    const { differences, failed } = await this.#inventory.verify("p");
    return [
      ...differences.map(
        ({ className, ref, kind }) => `verify: ${className} ${ref} ${kind}`,
      ),
      ...failed.map(({ className }) => `verify: ${className} failed`),
    ];
  }

  /** The first class that differs from the database of the pool. */
  #difference(): string | undefined {
    const { database } = this.#pool;
    for (const { className } of database.tables()) {
      if (className === "role" || className === "session") continue;
      const held = new Map<string, unknown>();
      for (const { ref, record } of this.#inventory.list(className))
        held.set(ref, record);
      const counted = this.#inventory.count("p", className);
      if (counted === 0 && className !== "VM") continue;
      const truth = new Map(database.records(className));
      if (truth.size !== held.size)
        return `${className}: ${held.size} objects instead of ${truth.size}`;
      for (const [ref, record] of truth)
        if (!isSameRecord(held.get(ref), record)) return `${className} ${ref}`;
    }
    return undefined;
  }
}

/** Records as JSON: the simulator writes integers as strings in both. */
function isSameRecord(held: unknown, record: unknown): boolean {
  const fields = held as Record<string, unknown> | undefined;
  const truth = record as Record<string, unknown>;
  return (
    fields !== undefined &&
    isDeepStrictEqual(fields["name_label"], truth["name_label"]) &&
    isDeepStrictEqual(fields["power_state"], truth["power_state"]) &&
    isDeepStrictEqual(fields["other_config"], truth["other_config"]) &&
    isDeepStrictEqual(fields["resident_on"], truth["resident_on"])
  );
}

/** Changes a VM all the time, and measures how long a change stays unknown while the pool is reported as current. */
class Marker {
  readonly #pool: SimulatedPool;
  readonly #inventory: Inventory;
  readonly #ref: string;
  #value = 0;
  #writtenAt = 0;
  longestUnknownMs = 0;

  constructor(pool: SimulatedPool, inventory: Inventory) {
    this.#pool = pool;
    this.#inventory = inventory;
    [this.#ref] = pool.database.refs("VM") as Iterable<string> as [string];
    this.#write();
  }

  async watch(ms: number): Promise<void> {
    const until = performance.now() + ms;
    do {
      this.#check();
      await pause(Math.min(50, ms));
    } while (performance.now() < until);
  }

  #write(): void {
    this.#pool.database.update("VM", this.#ref, {
      name_label: `marker ${++this.#value}`,
    });
    this.#writtenAt = performance.now();
  }

  #check(): void {
    const record = this.#inventory.peek("p", "VM", this.#ref);
    const now = performance.now();
    if (record?.["name_label"] === `marker ${this.#value}`) {
      this.#write();
      return;
    }
    const status = this.#inventory.poolStatus("p")!;
    const isCurrent =
      status.state === "watching" && status.staleSince === undefined;
    // The time begins when the pool is reported as current.
    if (!isCurrent) this.#writtenAt = now;
    this.longestUnknownMs = Math.max(
      this.longestUnknownMs,
      now - this.#writtenAt,
    );
  }
}
