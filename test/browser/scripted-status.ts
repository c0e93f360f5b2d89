/**
 * Statuses as the server sends them (the shape is packages/xo-web/src/api/status.ts),
 * made up for the browser tests.
 */
export interface ScriptedPool {
  id: string;
  label: string;
  pool?: string | null;
  address: string;
  state: string;
  since: string;
  staleSince: string | null;
  error: { code: string; message: string } | null;
  warnings?: { code: string; message: string; data: object }[];
  transport: string | null;
  objects: number;
  counts: Record<string, number>;
  changesPerSecond: number;
  lastChangeAt: string | null;
  loadMs: number | null;
  loadBytes: number | null;
  revision: number;
}

export interface ScriptedStatus {
  server: Record<string, unknown>;
  pools: Record<string, ScriptedPool>;
  totals: Record<string, unknown>;
}

/** The objects of a pool of a size, in the proportions of a real one. */
export function countsOf(hosts: number, vms: number): Record<string, number> {
  return {
    Bond: hosts,
    Certificate: hosts + 1,
    Cluster: 0,
    console: vms + hosts,
    crashdump: 0,
    host: hosts,
    host_cpu: hosts * 32,
    host_metrics: hosts,
    message: Math.round(vms * 0.4),
    network: 12 + Math.round(hosts / 4),
    PBD: hosts * 4,
    PCI: hosts * 18,
    PGPU: hosts,
    PIF: hosts * 6,
    PIF_metrics: hosts * 6,
    pool: 1,
    role: 132,
    SM: 17,
    SR: 6 + Math.round(hosts / 2),
    task: Math.round(vms / 250),
    VBD: vms * 3,
    VDI: vms * 2,
    VIF: vms * 2,
    VM: Math.round(vms * 1.2) + hosts,
    VM_guest_metrics: vms,
    VM_metrics: Math.round(vms * 1.2) + hosts,
  };
}

const ago = (seconds: number): string =>
  new Date(Date.now() - seconds * 1000).toISOString();

/** A connected pool, unless the test overrides it. */
export function poolOf(
  label: string,
  input: Partial<ScriptedPool> & { size?: readonly [number, number] } = {},
): ScriptedPool {
  const { size, ...rest } = input;
  const counts = rest.counts ?? (size === undefined ? {} : countsOf(...size));
  const objects = Object.values(counts).reduce((sum, n) => sum + n, 0);
  return {
    id: label.toLowerCase().replaceAll(" ", "-"),
    label,
    address: "192.168.1.10",
    state: "watching",
    since: ago(320),
    staleSince: null,
    error: null,
    transport: "json-rpc",
    objects,
    counts,
    changesPerSecond: 12.4,
    lastChangeAt: ago(2),
    loadMs: Math.round(20 + objects / 270),
    loadBytes: objects * 1150,
    revision: objects + 4120,
    ...rest,
  };
}

/** A pool that was never connected: it has no objects yet. */
export function failedPool(
  label: string,
  error: { code: string; message: string },
  input: Partial<ScriptedPool> = {},
): ScriptedPool {
  return poolOf(label, {
    state: "failed",
    error,
    transport: null,
    counts: {},
    changesPerSecond: 0,
    lastChangeAt: null,
    loadMs: null,
    loadBytes: null,
    revision: 0,
    ...input,
  });
}

export function statusOf(pools: readonly ScriptedPool[]): ScriptedStatus {
  const counts: Record<string, number> = {};
  for (const pool of pools)
    for (const [name, count] of Object.entries(pool.counts))
      counts[name] = (counts[name] ?? 0) + count;
  const sum = (of: (pool: ScriptedPool) => number): number =>
    pools.reduce((total, pool) => total + of(pool), 0);
  return {
    server: {
      version: "0.1.0",
      startedAt: ago(8040),
      uptimeS: 8040,
      node: "v20.19.0",
      demo: true,
      eventLoop: {
        p50Ms: 0.31,
        p99Ms: 2.4,
        maxMs: 8.7,
        utilization: 0.07,
        blocksOver50Ms: 0,
        longestBlockMs: 8.7,
      },
      parserPool: {
        threads: 1,
        queued: 0,
        tasksPerSecond: 6.2,
        waitP99Ms: 0.8,
        runP99Ms: 3.9,
      },
      memory: {
        rssBytes: 268e6,
        heapUsedBytes: 31.6e6,
        externalBytes: 152e6,
      },
      clients: 2,
    },
    pools: Object.fromEntries(pools.map((pool) => [pool.id, pool])),
    totals: {
      pools: pools.length,
      objects: sum((pool) => pool.objects),
      changesPerSecond: sum((pool) => pool.changesPerSecond),
      counts,
    },
  };
}
