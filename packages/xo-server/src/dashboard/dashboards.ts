import type { WallClock } from "@xo-server/kit";
import type { Inventory, Queries, ViewObject } from "@xo-server/inventory";
import type { MissingPatches } from "../updates/missing-patches.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Readable } from "../objects/readable.js";
import type { HostStats } from "../stats/host-stats.js";
import type { PoolSummary } from "../status/status.js";
import { Counts } from "./counts.js";
import { patchCounts } from "./patch-counts.js";
import { hostStates, storageSizes, vmStates } from "./states.js";
import { readUsages, topOf, type Usage } from "./usage.js";

interface DashboardsOptions {
  readonly queries: Pick<Queries, "group" | "page">;
  readonly objects: Pick<PoolObjects, "get">;
  readonly stats: Pick<HostStats, "latest">;
  readonly patches: MissingPatches;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly listPools: () => readonly PoolSummary[];
  readonly clock: WallClock;
}

const ALARMS =
  "name:|(/^ALARM$/ /^BOND_STATUS_CHANGED$/ /^MULTIPATH_PERIODIC_ALERT$/)";
const NO_DATA = { isEmpty: true };
/** Maximum number of alarm ids in an answer. */
const MAX_ALARMS = 1_000;

/** Overviews, computed from columns without reading all objects. */
export class Dashboards {
  readonly #options: DashboardsOptions;

  constructor(options: DashboardsOptions) {
    this.#options = options;
  }

  /** Dashboard of all objects that the caller may read. */
  async ofFleet(readable: Readable): Promise<object> {
    const { queries, listPools } = this.#options;
    const counts = new Counts(queries, readable);
    const hosts = await this.#ids("host", "", readable);
    const [hostsStatus, vmsStatus, storage, nCpus, memorySize, missing] =
      await Promise.all([
        hostStates(counts),
        vmStates(counts),
        storageSizes(counts),
        counts.sum("host", "cpus.cores"),
        counts.sum("host", "memory.size"),
        patchCounts(hosts, this.#options),
      ]);
    const pools = await this.#ids("pool", "", readable);
    return {
      nPools: pools.length,
      nHosts: hosts.length,
      hostsStatus,
      vmsStatus,
      missingPatches: missing,
      // Pools that are not connected have no object that rights could apply to.
      poolsStatus:
        readable("pool") === undefined
          ? poolStates(listPools())
          : { ...poolStates([]), connected: pools.length, total: pools.length },
      resourcesOverview: { nCpus, memorySize, srSize: storage.total },
      storageRepositories: { size: storage },
      backupRepositories: NO_DATA,
      backups: NO_DATA,
    };
  }

  async ofPool(id: string, readable: Readable): Promise<object> {
    const inPool = `$pool:"${id}"`;
    const counts = new Counts(this.#options.queries, readable, inPool);
    const hosts = await this.#rows("host", inPool, readable);
    const hostIds = hosts.map(idOf);
    const [hostStatus, vmStatus, cores, assigned, usages, missing] =
      await Promise.all([
        hostStates(counts),
        vmStates(counts),
        counts.sum("host", "cpus.cores"),
        counts.sum("VM", "CPUs.number", "power_state:/^Running$/"),
        readUsages(hostIds, this.#options),
        patchCounts(hostIds, this.#options),
      ]);
    const top = (type: string, all: readonly Shared[]) =>
      this.#named(type, all, readable);
    return {
      hosts: {
        status: hostStatus,
        topFiveUsage: {
          ram: topOf(5, hosts.map(toMemoryUse)),
          cpu: top("host", usages.hosts.map(toCpuUse)),
        },
        missingPatches: missing,
      },
      vms: {
        status: vmStatus,
        topFiveUsage: {
          ram: top("VM", usages.vms.map(toGuestMemoryUse)),
          cpu: top("VM", usages.vms.map(toCpuUse)),
        },
      },
      srs: {
        topFiveUsage: topOf(
          5,
          (await this.#rows("SR", `${inPool} size:>0`, readable)).map(toSrUse),
        ),
      },
      alarms: await this.#alarms(inPool, readable),
      cpuProvisioning: {
        total: cores,
        assigned,
        percent: cores === 0 ? 0 : (100 * assigned) / cores,
      },
    };
  }

  async ofVm(id: string, readable: Readable): Promise<object> {
    const vm = this.#options.objects.get(id, "VM").object;
    const { $container, $pool, CPUs, memory, os_version, creation } = vm;
    const answer = Object.fromEntries(
      quick.flatMap((name) => (name in vm ? [[name, vm[name]]] : [])),
    );
    const { number } = CPUs as { number: number };
    const { size } = memory as { size: number };
    const { name } = (os_version ?? {}) as { name?: string };
    const { date, user } = (creation ?? {}) as { date?: string; user?: string };
    return {
      quickInfo: {
        ...answer,
        CPUs: { number },
        memory: { size },
        os_version: { name },
        creation: { date, user },
        ...($container === $pool ? {} : { host: $container }),
        pvDriversDetected: vm["pvDriversDetected"] === true,
      },
      alarms: await this.#alarms(`$object:"${id}"`, readable),
      // Backups are not supported.
      backupsInfo: {
        lastRuns: [],
        backupArchives: [],
        replication: {},
        vmProtection: "not-in-active-job",
      },
    };
  }

  async #ids(type: string, filter: string, readable: Readable) {
    return (await this.#page(type, filter, readable)).ids;
  }

  async #alarms(filter: string, readable: Readable) {
    const requested = `${filter} ${ALARMS}`;
    return (await this.#page("message", requested, readable, MAX_ALARMS)).ids;
  }

  /** Reads whole objects; only for types with few objects per pool. */
  async #rows(type: string, filter: string, readable: Readable) {
    const { rows } = await this.#page(type, filter, readable);
    return rows.map((row) => JSON.parse(row.toString()) as ViewObject);
  }

  #page(type: string, filter: string, readable: Readable, limit?: number) {
    const where = readable(type);
    return this.#options.queries.page({
      type,
      filter,
      ...(limit === undefined ? {} : { limit }),
      ...(where === undefined ? {} : { where }),
    });
  }

  /** The first five readable objects, with their names. */
  #named(type: string, all: readonly Shared[], readable: Readable) {
    const named = topOf(MAX_CHECKED, all).flatMap((one) => {
      const object = this.#find(one.id, type);
      const isHidden =
        object === undefined || readable(type)?.(object) === false;
      return isHidden ? [] : [{ ...one, name_label: object["name_label"] }];
    });
    return topOf(5, named);
  }

  #find(id: string, type: string): ViewObject | undefined {
    try {
      return this.#options.objects.get(id, type).object;
    } catch {
      // Deleted in the meantime.
      return undefined;
    }
  }
}

/** An object with its share of a resource, in percent. */
interface Shared {
  readonly id: string;
  readonly percent: number;
}

/** Maximum number of objects checked for a list of five. */
const MAX_CHECKED = 50;

const quick = [
  "id",
  "power_state",
  "uuid",
  "name_description",
  "mainIpAddress",
  "$pool",
  "virtualizationMode",
  "tags",
  "startTime",
  "pvDriversVersion",
  "pvDriversUpToDate",
];

function idOf(object: ViewObject): string {
  return String(object["id"]);
}

function toMemoryUse(host: ViewObject) {
  const { size, usage } = host["memory"] as { size: number; usage: number };
  const { id, name_label } = host;
  return { id, name_label, size, usage, percent: (100 * usage) / size };
}

function toCpuUse({ id, cpu }: Usage): Shared {
  return { id, percent: cpu };
}

function toGuestMemoryUse({ id, memory, memoryFree }: Usage) {
  const percent = (100 * (memory - memoryFree)) / memory;
  return { id, memory, memoryFree, percent };
}

function toSrUse(sr: ViewObject) {
  const { id, name_label } = sr;
  const size = Number(sr["size"]);
  const physical_usage = Number(sr["physical_usage"]);
  const percent = (100 * physical_usage) / size;
  return { id, name_label, size, physical_usage, percent };
}

function poolStates(pools: readonly PoolSummary[]) {
  const of = (...states: PoolSummary["state"][]) =>
    pools.filter(({ state }) => states.includes(state)).length;
  const connected = of("watching", "listing", "re-listing");
  const unreachable = of("failed", "backing-off");
  return {
    connected,
    unreachable,
    disconnected: 0,
    unknown: pools.length - connected - unreachable,
    total: pools.length,
  };
}
