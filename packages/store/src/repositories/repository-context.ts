import type { Logger, WallClock } from "@xo-server/kit";
import type { Availability } from "../commit/availability.js";
import type { Committer } from "../commit/committer.js";
import type { Engine } from "../engines/engine.js";
import type { CachedTables } from "../cache/cached-tables.js";
import type { PasswordHasher } from "../secrets/password-hasher.js";
import type { Vault } from "../secrets/vault.js";
import type { AuditMark } from "./audit-mark.js";

/** What all repositories share. */
export interface RepositoryContext {
  readonly engine: Engine;
  readonly availability: Availability;
  readonly committer: Committer;
  readonly tables: CachedTables;
  readonly vault: Vault;
  readonly hasher: PasswordHasher;
  readonly clock: WallClock;
  /** Absent: none. */
  readonly auditMark?: AuditMark | undefined;
  readonly logger: Logger;
  readonly createId: () => string;
}
