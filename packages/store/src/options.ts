import { randomUUID } from "node:crypto";
import { systemClock, type Clock } from "./clock.js";
import type { Backoff } from "./commit/availability.js";
import { silentLogger, type Logger } from "./logger.js";
import type { KeyOptions } from "./secrets/key-source.js";
import {
  defaultScryptCost,
  type ScryptCost,
} from "./secrets/password-hasher.js";

export interface StoreOptions {
  /** `postgres://…` for a database that servers share, else the file of the embedded one. */
  readonly location: string;
  /** What secrets are encrypted with. */
  readonly key: KeyOptions;
  /** Between two looks for changes of other processes. Default 1,000. */
  readonly pollMs?: number;
  /** Between tries to reach a database that is gone. Default 100 to 10,000. */
  readonly backoff?: Backoff;
  /** Cost of hashes of passwords that are set from now on. */
  readonly scryptCost?: ScryptCost;
  /** Cost of passphrases of exported configurations, a power of two. Default 17. */
  readonly passphraseCost?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly random?: () => number;
  readonly createId?: () => string;
}

export type StoreSettings = Required<StoreOptions>;

export function withDefaults(options: StoreOptions): StoreSettings {
  return {
    pollMs: 1_000,
    backoff: { firstMs: 100, maxMs: 10_000 },
    scryptCost: defaultScryptCost,
    passphraseCost: 17,
    clock: systemClock,
    logger: silentLogger,
    random: Math.random,
    createId: randomUUID,
    ...options,
  };
}
