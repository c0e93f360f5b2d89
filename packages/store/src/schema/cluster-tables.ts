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
  /** Since when it takes no leases and hands over what it has; null: it takes part. */
  leaving_at: number | null;
}

/** `id` is what is owned; times are those of the database. */
export interface LeaseRow {
  id: string;
  /** Name of the server. */
  owner: string;
  /** Process of the server; empty: released. */
  instance: string;
  /** Increases each time the lease is taken. */
  epoch: number;
  /** Name of a server that asks for the lease. */
  requested_by: string | null;
  taken_at: number;
  expires_at: number;
}
