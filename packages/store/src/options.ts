import { randomUUID } from "node:crypto";
import {
  backgroundWallClock,
  monotonicClock,
  type Logger,
  silentLogger,
  type WallClock,
} from "@xo-server/kit";
import type { Backoff } from "./commit/availability.js";
import { isPostgres } from "./engines/open-engine.js";
import { SharedClock } from "./engines/shared-clock.js";
import { limits } from "./schema/limits.js";
import type { KeyOptions } from "./secrets/key-source.js";
import {
  defaultScryptCost,
  type ScryptCost,
} from "./secrets/password-hasher.js";

export interface StoreOptions {
  /** `postgres://…` for a shared database, else the file of the embedded one. */
  readonly location: string;
  /** Key that encrypts the secrets. */
  readonly key: KeyOptions;
  /**
   * Whether a missing or empty database is created. `first-start` (default): unless
   * `traces`, the key file or `auditMark` show that there was one; `always`;
   * `never`: for commands on the database of a server.
   */
  readonly create?: "first-start" | "always" | "never";
  /** Files that a server with this database creates: they exist after its first start. */
  readonly traces?: readonly string[];
  /** File with the last entry of the audit log that this server wrote, to detect a database that lost entries. Empty (default): none. */
  readonly auditMark?: string;
  /**
   * Whether SQLite runs in a separate thread. Default true; false for commands and
   * tests, which it may block.
   */
  readonly sqliteThread?: boolean;
  /**
   * Whether SQLite waits until committed data is on disk. Default true; false for a
   * temporary database, which survives the end of its process, but not a power
   * failure.
   */
  readonly durable?: boolean;
  /** Interval between two checks for changes of other processes, in ms. Default 1,000. */
  readonly pollMs?: number;
  /** Pause between two probes of an unreachable database, in ms. Default 100 to 10,000. */
  readonly backoff?: Backoff;
  /** Changes that wait for their commit; further ones are refused with QUEUE_FULL. Default 10,000. */
  readonly maxWaitingChanges?: number;
  /** Cost of new password hashes. */
  readonly scryptCost?: ScryptCost;
  /** log2 of the scrypt cost of passphrases of exported configurations. Default 17. */
  readonly passphraseCost?: number;
  /**
   * Clock of stored dates. Default: with PostgreSQL that of the database, otherwise
   * that of the system.
   */
  readonly clock?: WallClock;
  readonly logger?: Logger;
  readonly random?: () => number;
  readonly createId?: () => string;
}

/** What makes a store slow on purpose. */
export type StoreCosts = Pick<
  StoreOptions,
  "scryptCost" | "passphraseCost" | "durable" | "sqliteThread"
>;

export interface StoreSettings extends Required<StoreOptions> {
  /** `clock`, if it is to follow that of the database. */
  readonly sharedClock: SharedClock | undefined;
}

/**
 * Fills in the defaults. With PostgreSQL the clock follows that of the database,
 * unless the caller sets one.
 */
export function withDefaults(options: StoreOptions): StoreSettings {
  const sharedClock =
    options.clock === undefined && isPostgres(options.location)
      ? new SharedClock(backgroundWallClock, monotonicClock)
      : undefined;
  return {
    create: "first-start",
    traces: [],
    auditMark: "",
    sqliteThread: true,
    durable: true,
    pollMs: 1_000,
    backoff: { firstMs: 100, maxMs: 10_000 },
    maxWaitingChanges: limits.waitingChanges,
    scryptCost: defaultScryptCost,
    passphraseCost: 17,
    clock: sharedClock ?? backgroundWallClock,
    sharedClock,
    logger: silentLogger,
    random: Math.random,
    createId: randomUUID,
    ...options,
  };
}
