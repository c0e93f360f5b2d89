/** A server of `cluster.listServers`. */
export interface ClusterServer {
  readonly name: string;
  /** The page is connected to it. */
  readonly isThisServer: boolean;
  /** Empty: not known. */
  readonly url: string;
  readonly version: string;
  /** In ms since the epoch, by the clock of the database. */
  readonly startedAt: number;
  readonly seenAt: number;
  readonly state: "running" | "leaving" | "lost";
  readonly leases: readonly { readonly subject: string }[];
}

/** Result of `cluster.leave`. */
export interface HandOver {
  readonly moved: readonly { readonly subject: string }[];
  readonly free: readonly string[];
  readonly remaining: readonly string[];
}
