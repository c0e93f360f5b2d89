import { Semaphore, type Inventory } from "@xo-server/inventory";
import { XapiError, XoError } from "@xo-server/model";
import { joinObject, RawJson, type RawMember } from "../encoding/raw-json.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { StatsHost } from "./fetch-measurements.js";
import type { Granularity } from "./granularity.js";
import type { HostStats } from "./host-stats.js";
import {
  hostMeasures,
  srMeasures,
  mapColumns,
  vmMeasures,
  type Measure,
} from "./measures.js";
import { windowOf, writeStats } from "./stats-writer.js";
import type { MetricSeries } from "./metric-series.js";

interface StatsRequest {
  readonly granularity?: Granularity | undefined;
  /**
   * Only points after this time, in s: `endTimestamp` of the previous answer.
   */
  readonly start?: number | undefined;
}

interface ObjectStatsOptions {
  readonly objects: Pick<PoolObjects, "get">;
  readonly hosts: Pick<HostStats, "read" | "readArchive">;
  readonly inventory: Pick<Inventory, "runInSlices">;
}

/**
 * Maximum number of concurrent requests for archives of halted VMs, 150 kB
 * each.
 */
const MAX_ARCHIVES = 4;

/** Statistics of single objects in the format of Xen Orchestra's API (docs/statistics.md). */
export class ObjectStats {
  readonly #options: ObjectStatsOptions;
  readonly #turns = new Semaphore(MAX_ARCHIVES);

  constructor(options: ObjectStatsOptions) {
    this.#options = options;
  }

  /** @throws XoError HOST_OFFLINE, and see fetchMeasurements */
  async ofHost(id: string, request: StatsRequest): Promise<RawJson> {
    return new RawJson(await this.#bytesOfHost(id, hostMeasures, request));
  }

  /**
   * @throws XoError VM_BAD_POWER_STATE: the VM is halted and has no archive;
   *   and as above
   */
  async ofVm(id: string, request: StatsRequest): Promise<RawJson> {
    const { objects } = this.#options;
    const vm = objects.get(id, "VM");
    const state = String(vm.object["power_state"]);
    const series =
      state === "Running" || state === "Paused"
        ? await this.#read(
            objects.get(String(vm.object["$container"]), "host"),
            vm.id,
            request,
          )
        : await this.#archived(vm, request);
    return new RawJson(await this.#write(series, vmMeasures, request));
  }

  /**
   * Statistics of hosts by their ids; `{error}` for hosts that fail.
   * @param hosts ids
   */
  async ofHosts(
    hosts: readonly string[],
    request: StatsRequest,
    measures: readonly Measure[] = hostMeasures,
  ): Promise<RawJson> {
    const members = await Promise.all(
      hosts.map(async (id): Promise<RawMember> => {
        const stats = this.#bytesOfHost(id, measures, request);
        return [id, await stats.catch(toReason)];
      }),
    );
    return new RawJson(joinObject({}, members));
  }

  /** I/O of an SR as each of its hosts measures it, by host id. */
  ofSr(id: string, hosts: readonly string[], request: StatsRequest) {
    return this.ofHosts(hosts, request, srMeasures(id));
  }

  async #bytesOfHost(
    id: string,
    measures: readonly Measure[],
    request: StatsRequest,
  ): Promise<Buffer> {
    const host = this.#options.objects.get(id, "host");
    const series = await this.#read(host, host.id, request);
    return this.#write(series, measures, request);
  }

  /** @param uuid UUID of the host or of one of its VMs */
  #read(
    host: PoolObject,
    uuid: string,
    { granularity = "seconds" }: StatsRequest,
  ): Promise<MetricSeries> {
    return this.#options.hosts.read(toStatsHost(host), uuid, granularity);
  }

  async #archived(
    { id, object, xapi }: PoolObject,
    { granularity = "seconds" }: StatsRequest,
  ): Promise<MetricSeries> {
    const { hosts } = this.#options;
    const series = await this.#turns.run(() =>
      hosts.readArchive(xapi, id, granularity),
    );
    if (series !== undefined) return series;
    const actual = String(object["power_state"]).toLowerCase();
    const data = { objectId: id, expected: "running", actual };
    throw new XoError("VM_BAD_POWER_STATE", data);
  }

  async #write(
    series: MetricSeries,
    measures: readonly Measure[],
    { start }: StatsRequest,
  ): Promise<Buffer> {
    const columns = mapColumns(series.columnSet, measures);
    const parts: string[] = [];
    const steps = writeStats(series, columns, windowOf(series, start), parts);
    await this.#options.inventory.runInSlices("stats", steps);
    return Buffer.from(parts.join(""));
  }
}

/** @throws XoError HOST_OFFLINE: the host cannot be polled */
export function toStatsHost({ id, object, xapi }: PoolObject): StatsHost {
  if (object["power_state"] === "Halted")
    throw new XoError("HOST_OFFLINE", { objectId: id });
  const pool = String(object["$pool"]);
  return { id, pool, address: String(object["address"]), xapi };
}

function toReason(error: unknown): Buffer {
  const isKnown = error instanceof XoError || error instanceof XapiError;
  const { code, message } = isKnown
    ? error
    : { code: "INTERNAL", message: "internal error" };
  return Buffer.from(JSON.stringify({ error: { code, message } }));
}
