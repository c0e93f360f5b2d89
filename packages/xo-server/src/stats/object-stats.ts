import type { Inventory } from "@xo-server/inventory";
import { XapiError, XoError } from "@xo-server/model";
import { joinObject, RawJson, type RawMember } from "../doors/raw-json.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { StatsHost } from "./fetch-measurements.js";
import type { Granularity } from "./granularity.js";
import type { HostStats } from "./host-stats.js";
import {
  hostMeasures,
  srMeasures,
  toTold,
  vmMeasures,
  type Measure,
} from "./measures.js";
import type { Series } from "./series.js";
import { windowOf, writeStats } from "./stats-writer.js";

export interface StatsRequest {
  readonly granularity?: Granularity | undefined;
  /** Only points after it, in s: `endTimestamp` of the answer before. */
  readonly start?: number | undefined;
}

export interface ObjectStatsOptions {
  readonly objects: Pick<PoolObjects, "get">;
  readonly hosts: Pick<HostStats, "read">;
  readonly inventory: Pick<Inventory, "inSlices">;
}

/** Which columns of a host's are told. */
interface Choice {
  readonly uuid: string;
  readonly measures: readonly Measure[];
}

/** Statistics of single objects as clients get them: CONTRACT 2.7. */
export class ObjectStats {
  readonly #options: ObjectStatsOptions;

  constructor(options: ObjectStatsOptions) {
    this.#options = options;
  }

  /** @throws XoError HOST_OFFLINE, and see fetchMeasurements */
  async ofHost(id: string, request: StatsRequest): Promise<RawJson> {
    return new RawJson(await this.#bytesOfHost(id, hostMeasures, request));
  }

  /** @throws XoError VM_BAD_POWER_STATE: no host measures it; and as above */
  async ofVm(id: string, request: StatsRequest): Promise<RawJson> {
    const { objects } = this.#options;
    const vm = objects.get(id, "VM");
    const state = String(vm.object["power_state"]);
    if (state !== "Running" && state !== "Paused")
      throw new XoError("VM_BAD_POWER_STATE", {
        ...{ objectId: vm.id, expected: "running" },
        actual: state.toLowerCase(),
      });
    const host = objects.get(String(vm.object["$container"]), "host");
    const series = await this.#read(host, request);
    const choice = { uuid: vm.id, measures: vmMeasures };
    return new RawJson(await this.#write(series, choice, request));
  }

  /**
   * Of all hosts, by their ids; `{error}` where one does not tell.
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

  /** Input and output of an SR as its hosts see them, by their ids. */
  ofSr(id: string, hosts: readonly string[], request: StatsRequest) {
    return this.ofHosts(hosts, request, srMeasures(id));
  }

  async #bytesOfHost(
    id: string,
    measures: readonly Measure[],
    request: StatsRequest,
  ): Promise<Buffer> {
    const host = this.#options.objects.get(id, "host");
    const series = await this.#read(host, request);
    return this.#write(series, { uuid: host.id, measures }, request);
  }

  #read(
    host: PoolObject,
    { granularity = "seconds" }: StatsRequest,
  ): Promise<Series> {
    return this.#options.hosts.read(toStatsHost(host), granularity);
  }

  async #write(
    series: Series,
    { uuid, measures }: Choice,
    { start }: StatsRequest,
  ): Promise<Buffer> {
    const measured = series.legend.of(uuid);
    const { names = [], columns = [] } = measured ?? {};
    const told = toTold(names, columns, measures);
    const parts: string[] = [];
    const steps = writeStats(series, told, windowOf(series, start), parts);
    await this.#options.inventory.inSlices("stats", steps);
    return Buffer.from(parts.join(""));
  }
}

/** @throws XoError HOST_OFFLINE: it cannot be asked */
export function toStatsHost({ id, object, xapi }: PoolObject): StatsHost {
  if (object["power_state"] === "Halted")
    throw new XoError("HOST_OFFLINE", { objectId: id });
  return { id, address: String(object["address"]), xapi };
}

function toReason(error: unknown): Buffer {
  const isKnown = error instanceof XoError || error instanceof XapiError;
  const { code, message } = isKnown
    ? error
    : { code: "INTERNAL", message: "internal error" };
  return Buffer.from(JSON.stringify({ error: { code, message } }));
}
