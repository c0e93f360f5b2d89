/**
 * The result of `status.subscribe`: the server, its pools and totals. Times are
 * ISO 8601, in UTC. In a merge patch null means "removed", so null and absent
 * are equivalent.
 */
export interface Status {
  /** Anonymous clients get only version and `demo`, and no pools. */
  readonly server: PublicServer & Partial<ServerStatus>;
  readonly pools: Readonly<Record<string, PoolStatus>>;
  readonly totals: StatusTotals;
}

/** All of the server's status; undefined: the client has not signed in. */
export function fullServer(
  status: Status | undefined,
): ServerStatus | undefined {
  const server = status?.server;
  return server?.eventLoop === undefined ? undefined : (server as ServerStatus);
}

/** Objects by XAPI class, such as `VM`. */
export type Counts = Readonly<Record<string, number>>;

interface StatusTotals {
  readonly pools: number;
  readonly objects: number;
  readonly changesPerSecond: number;
  readonly counts: Counts;
}

export type PoolState =
  | "connecting"
  | "listing"
  | "watching"
  | "backing-off"
  | "re-listing"
  | "stopped"
  | "failed";

export interface PoolError {
  /** A code of the server's error table, or one of XAPI's own. */
  readonly code: string;
  readonly message: string;
  /** What the message is made of: `fingerprint`, `pinned`, `cause` ... */
  readonly data?: Readonly<Record<string, string>>;
}

/** Such as SAME_POOL: another connection leads to a pool with the same UUID. */
export interface PoolWarning {
  readonly code: string;
  readonly message: string;
  /** Members of the message: `pool`, `uuid`, `previous`. */
  readonly data: Readonly<Record<string, string>>;
}

export interface PoolStatus {
  readonly id: string;
  readonly label: string;
  /**
   * The user may not read the pool: only its state and UUID are set, and the
   * UUID is its id.
   */
  readonly isRestricted?: boolean;
  /** UUID of the pool, `$pool` of its objects; absent before the first listing. */
  readonly pool?: string | null;
  /** The first listing or the snapshot cache is being read; absent: an older server. */
  readonly isLoading?: boolean;
  readonly address: string;
  readonly state: PoolState;
  readonly since: string;
  /** Since when the objects are no longer followed; null while they are. */
  readonly staleSince?: string | null;
  readonly error?: PoolError | null;
  /** Absent: none. */
  readonly warnings?: readonly PoolWarning[] | null;
  readonly transport?: string | null;
  /** Name of the server through which the pool is reached; absent: directly. */
  readonly via?: string | null;
  readonly objects: number;
  readonly counts: Counts;
  readonly changesPerSecond: number;
  readonly lastChangeAt?: string | null;
  /** From connect to all objects there. */
  readonly loadMs?: number | null;
  readonly loadBytes?: number | null;
  readonly revision: number;
}

interface PublicServer {
  readonly version: string;
  readonly demo: boolean;
}

export interface ServerStatus extends PublicServer {
  readonly startedAt: string;
  readonly uptimeS: number;
  readonly node: string;
  readonly eventLoop: EventLoopStatus;
  readonly parserPool: ParserPoolStatus;
  readonly memory: MemoryStatus;
  /** Pages and programs connected now. */
  readonly clients: number;
}

export interface EventLoopStatus {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** 0 to 1: the share of time in which the loop was busy. */
  readonly utilization: number;
  readonly blocksOver50Ms: number;
  readonly longestBlockMs: number;
}

interface ParserPoolStatus {
  readonly threads: number;
  readonly queued: number;
  readonly tasksPerSecond: number;
  readonly waitP99Ms: number;
  readonly runP99Ms: number;
}

interface MemoryStatus {
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  readonly externalBytes: number;
}
