import type { Queries, ViewObject } from "@xo-server/inventory";
import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type {
  UsagePeriod,
  UsageReportBody,
} from "../jobs/usage-report-body.js";
import { inParallel } from "../jobs/in-parallel.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import {
  periodMs,
  readAverages,
  type AverageParts,
  type Averages,
} from "./read-averages.js";
import type {
  Consumer,
  PoolFigures,
  TopList,
  UsageFigures,
} from "./usage-figures.js";

export interface UsageReportSources extends AverageParts {
  readonly queries: Pick<Queries, "page">;
  readonly objects: PoolObjects;
  readonly clock: WallClock;
}

type Row = ViewObject & { readonly id: string };

const DEFAULT_TOP = 10;
/** Maximum number of hosts that are queried at the same time. */
const CONCURRENCY = 8;
/** Objects per page. */
const PAGE = 200;

/**
 * The resource usage of pools. Hosts that do not answer are listed.
 * @throws XoError NO_SUCH_OBJECT: a pool is unknown; ABORTED
 */
export async function readUsage(
  { pools: requested, period = "week", top = DEFAULT_TOP }: UsageReportBody,
  sources: UsageReportSources,
  signal: AbortSignal,
): Promise<UsageFigures> {
  const all = await rowsOf("pool", "", sources);
  const unknown = requested?.find((id) => !all.some((pool) => pool.id === id));
  if (unknown !== undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "pool", id: unknown });
  const chosen = all
    .filter(({ id }) => requested === undefined || requested.includes(id))
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const to = sources.clock.now();
  const pools: PoolFigures[] = [];
  for (const pool of chosen) {
    if (signal.aborted) throw new XoError("ABORTED", { what: "the report" });
    pools.push(await readPool(pool, { period, top }, sources, signal));
  }
  const from = to - periodMs[period];
  return { period, from, to, pools, lostPools: [] };
}

async function readPool(
  pool: Row,
  { period, top }: { readonly period: UsagePeriod; readonly top: number },
  sources: UsageReportSources,
  signal: AbortSignal,
): Promise<PoolFigures> {
  const filter = `$pool:${JSON.stringify(pool.id)}`;
  const hosts = await rowsOf("host", filter, sources);
  const vms = await rowsOf("VM", filter, sources);
  const srs = await rowsOf(
    "SR",
    `${filter} size:>0 !content_type:/^iso$/`,
    sources,
  );
  const { averages, silent } = await averagesOf(hosts, period, sources, signal);
  const of = (rows: readonly Row[], key: keyof Averages, factor = 1) =>
    topOf(top, rows, (row) => factor * (averages.get(row.id)?.[key] ?? NaN));
  const lists: Record<TopList, readonly Consumer[]> = {
    vmCpu: of(vms, "cpu", 100),
    vmMemory: of(vms, "memory"),
    vmDisk: of(vms, "disk"),
    vmNetwork: of(vms, "network"),
    hostCpu: of(hosts, "cpu", 100),
    hostMemory: of(hosts, "memory"),
    srs: topOf(
      top,
      srs,
      (sr) => (100 * numberAt(sr, "physical_usage")) / numberAt(sr, "size"),
    ),
  };
  const known = hosts.flatMap(({ id }) => averages.get(id) ?? []);
  const cpus = known.map(({ cpu }) => cpu).filter(Number.isFinite);
  const memory = known.map((one) => one.memory).filter(Number.isFinite);
  return {
    id: pool.id,
    name: nameOf(pool),
    hosts: hosts.length,
    vms: vms.length,
    runningVms: vms.filter((vm) => vm["power_state"] === "Running").length,
    cpu: cpus.length === 0 ? null : (100 * sum(cpus)) / cpus.length,
    memory: memory.length === 0 ? null : sum(memory),
    memorySize: sum(hosts.map((host) => memorySize(host))),
    storage: sum(srs.map((sr) => numberAt(sr, "physical_usage"))),
    storageSize: sum(srs.map((sr) => numberAt(sr, "size"))),
    top: lists,
    silentHosts: silent,
  };
}

async function averagesOf(
  hosts: readonly Row[],
  period: UsagePeriod,
  sources: UsageReportSources,
  signal: AbortSignal,
) {
  const averages = new Map<string, Averages>();
  const silent: string[] = [];
  await inParallel(
    hosts,
    { concurrency: CONCURRENCY, isOver: () => signal.aborted },
    async (row) => {
      try {
        const host = sources.objects.get(row.id, "host");
        const found = await readAverages(host, period, sources);
        // A VM that was migrated in the meantime is in the responses of two hosts.
        for (const [id, one] of found)
          if (!averages.has(id)) averages.set(id, one);
      } catch {
        // A host that is down has no measurements; the report lists it.
        silent.push(nameOf(row));
      }
    },
  );
  return { averages, silent: silent.sort() };
}

function topOf(
  most: number,
  rows: readonly Row[],
  valueOf: (row: Row) => number,
): readonly Consumer[] {
  return rows
    .map((row) => ({ id: row.id, name: nameOf(row), value: valueOf(row) }))
    .filter(({ value }) => Number.isFinite(value) && value > 0)
    .sort((a, b) => b.value - a.value || a.name.localeCompare(b.name))
    .slice(0, most);
}

async function rowsOf(
  type: string,
  filter: string,
  { queries }: Pick<UsageReportSources, "queries">,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const page = await queries.page({
      type,
      filter,
      sort: [],
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const row of page.rows) rows.push(JSON.parse(row.toString()) as Row);
    after = page.next;
  } while (after !== undefined);
  return rows;
}

function nameOf(row: Row): string {
  const name = row["name_label"];
  return typeof name === "string" && name !== "" ? name : row.id;
}

function numberAt(row: Row, key: string): number {
  const value = row[key];
  return typeof value === "number" ? value : 0;
}

function memorySize(host: Row): number {
  const { size } = (host["memory"] ?? {}) as { readonly size?: number };
  return size ?? 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
