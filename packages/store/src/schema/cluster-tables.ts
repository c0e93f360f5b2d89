/**
 * Time without a heartbeat after which a server counts as lost, in ms: twice the
 * longest interval of heartbeats.
 */
export const LOST_SERVER_MS = 10_000;

/** `id` is the name of the server; times are those of the database. */
export interface ClusterServerRow {
  id: string;
  /** Unique for each start. */
  instance: string;
  /** Identifies the installation. */
  origin: string;
  url: string;
  version: string;
  started_at: number;
  /** Last heartbeat. */
  seen_at: number;
  /** Since when it takes no leases and hands over its own; null: it takes part. */
  leaving_at: number | null;
  /** Host and port at which other servers reach it; null: not known. */
  address: string | null;
  /** SHA-256 of its TLS certificate; null: plain HTTP. */
  fingerprint: string | null;
}

/** A lease. `id` is its subject; times are those of the database. */
export interface LeaseRow {
  id: string;
  /** Name of the server. */
  owner: string;
  /** Process of the server; empty: released. */
  instance: string;
  /** Increases each time the lease is taken. */
  epoch: number;
  /** Name of a server that requests the lease. */
  requested_by: string | null;
  taken_at: number;
  expires_at: number;
}

/** A part of a limit that a server has reserved. */
export interface ReservationRow {
  id: string;
  /** The limited resource. */
  subject: string;
  /** Subject of the lease of the server that has made it. */
  holder: string;
  /** Epoch of this lease. */
  epoch: number;
  made_at: number;
  /** Time since which the reserved object exists. */
  settled_at: number | null;
  body_json: string;
}

/** `id` is a code of a name, an address, or both. Times in ms since the epoch. */
export interface SignInAttemptRow {
  id: string;
  failures: number;
  /** The last one; 0: none. */
  failed_at: number;
  /** The attempt that is under way; empty: none. */
  attempt: string;
  /** Until then no other attempt begins. */
  attempt_until: number;
  used_at: number;
}
