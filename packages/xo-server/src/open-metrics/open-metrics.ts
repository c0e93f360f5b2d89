import type { WallClock } from "@xo-server/kit";
import type {
  Inventory,
  Queries,
  Steps,
  ViewObject,
} from "@xo-server/inventory";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { HostStats } from "../stats/host-stats.js";
import { toStatsHost } from "../stats/object-stats.js";
import { shortest } from "../stats/shortest.js";
import type { MetricSeries } from "../stats/metric-series.js";
import type { PoolSummary } from "../status/status.js";
import { pause } from "../tasks/pause.js";
import { FamilyColumns } from "./family-columns.js";
import { measuredFamilies, type MeasuredFamily } from "./measured-families.js";
import { objectFamilies, tagsOf, text, type Names } from "./object-families.js";
import { openMetricsHead, type MetricFamily } from "./family.js";
import {
  HOST_FIELDS,
  SR_FIELDS,
  writeServerFamilies,
} from "./server-families.js";
import { sampleLine, toLabels } from "../metrics/sample-text.js";

interface OpenMetricsOptions {
  readonly queries: Pick<Queries, "page" | "count">;
  readonly objects: Pick<PoolObjects, "get">;
  readonly stats: Pick<HostStats, "latest">;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly listPools: () => readonly PoolSummary[];
  /** Id of the pool connection by the id of the pool object. */
  readonly poolOf: (id: string) => string | undefined;
  readonly accounts: {
    readonly users: { readonly size: number };
    readonly groups: { readonly size: number };
  };
  /** Rejects while the database is unavailable. */
  readonly countPendingTasks: () => Promise<number>;
  readonly clock: WallClock;
}

/** Timeout of reading the metrics of all hosts, in ms; the scrape timeout of Prometheus is 10 s. */
const TIMEOUT_MS = 6_000;

/** Characters per part of the response. */
const PART_LENGTH = 64 * 1024;

/** Metrics of all pools in OpenMetrics text, with the names of Xen Orchestra's plugin. Encoded in slices, as fast as the client reads. */
export class OpenMetrics {
  readonly #options: OpenMetricsOptions;
  readonly #columns = new FamilyColumns();

  constructor(options: OpenMetricsOptions) {
    this.#options = options;
  }

  async *read(): AsyncGenerator<Buffer> {
    const { inventory } = this.#options;
    const names = new Map<string, string>();
    await this.#addNames("pool", names);
    yield Buffer.from(this.#pools(names));
    await this.#addNames("host", names);
    await this.#addNames("SR", names);
    const allSeries = await this.#readSeries();
    const labels = await this.#labels(names);
    const columns = this.#columns;
    const parts: string[] = [];
    const write = async function* (steps: Steps) {
      await inventory.runInSlices("open metrics", steps);
      const all = parts.join("");
      parts.length = 0;
      for (let at = 0; at < all.length; at += PART_LENGTH)
        yield Buffer.from(all.slice(at, at + PART_LENGTH));
    };
    for (const [number, family] of measuredFamilies.entries())
      yield* write(
        writeMeasured(family, number, { allSeries, labels, columns, parts }),
      );
    for (const family of objectFamilies) {
      const objects = await this.#list(family.type, family.fields);
      const now = this.#options.clock.now() / 1000;
      const writeObject = (object: ViewObject) => {
        const found = family.read(object, names, now);
        if (found !== undefined && Number.isFinite(found.value))
          parts.push(
            sampleLine(family.name, toLabels(found.labels), found.value, now),
          );
      };
      yield* write(writeEach(family, objects, { write: writeObject, parts }));
    }
    yield Buffer.from(await this.#server());
    yield Buffer.from("# EOF\n");
  }

  #pools(names: Names): string {
    const family: MetricFamily = {
      name: "xcp_pool_connected",
      kind: "gauge",
      help: "Whether a pool is connected (1) or not (0)",
    };
    const { listPools, poolOf } = this.#options;
    const ids = new Map([...names.keys()].map((id) => [poolOf(id), id]));
    const samples = listPools().map(({ id, label, state }) => {
      const isConnected = state === "watching" || state === "re-listing";
      const pool_id = ids.get(id) ?? id;
      const labels = { pool_id, pool_name: names.get(pool_id) ?? label };
      return sampleLine(family.name, toLabels(labels), isConnected ? 1 : 0);
    });
    return openMetricsHead(family) + samples.join("");
  }

  async #server(): Promise<string> {
    const { queries, accounts, clock } = this.#options;
    const count = (type: string) => queries.count({ type, filter: "" });
    const figures = {
      // Unknown while the database is unavailable; the other figures are not affected.
      pendingTasks: await this.#options
        .countPendingTasks()
        .catch(() => undefined),
      users: accounts.users.size,
      groups: accounts.groups.size,
      pools: await count("pool"),
      vms: await count("VM"),
      hosts: await this.#list("host", HOST_FIELDS),
      srs: await this.#list("SR", SR_FIELDS),
    };
    return writeServerFamilies(figures, clock.now() / 1000);
  }

  async #addNames(type: string, names: Map<string, string>): Promise<void> {
    for (const object of await this.#list(type, ["name_label"]))
      names.set(String(object["id"]), String(object["name_label"]));
  }

  /** The latest metrics of running hosts; hosts that fail or are slow are omitted. */
  async #readSeries(): Promise<MetricSeries[]> {
    const { objects, stats, clock } = this.#options;
    const hosts = await this.#list("host", ["power_state"]);
    const allSeries: MetricSeries[] = [];
    const done = new AbortController();
    const all = Promise.all(
      hosts.map(async ({ id, power_state }) => {
        if (power_state !== "Running") return;
        try {
          const host = toStatsHost(objects.get(String(id), "host"));
          for (const series of await stats.latest(host)) allSeries.push(series);
        } catch {
          // The host has no samples in this scrape.
        }
      }),
    );
    await Promise.race([all, pause(clock, TIMEOUT_MS, done.signal)]);
    done.abort();
    return [...allSeries];
  }

  /** Encoded labels of hosts and running VMs, by id. */
  async #labels(names: Names): Promise<ReadonlyMap<string, string>> {
    const fields = ["$pool", "name_label", "tags", "$container"];
    const labels = new Map<string, string>();
    for (const host of await this.#list("host", fields))
      labels.set(String(host["id"]), toLabels(hostLabels(host, names)));
    for (const type of ["VM", "VM-controller"]) {
      const isUp = "power_state:/^(Running|Paused)$/";
      for (const vm of await this.#list(type, fields, isUp))
        labels.set(String(vm["id"]), toLabels(vmLabels(vm, type, names)));
    }
    return labels;
  }

  async #list(type: string, fields: readonly string[], filter = "") {
    const { queries, inventory } = this.#options;
    const request = { type, filter, sort: [], fields: ["id", ...fields] };
    const { rows } = await queries.page(request);
    const objects: ViewObject[] = [];
    await inventory.runInSlices("open metrics", parseAll(rows, objects));
    return objects;
  }
}

/** Objects per step of a slice. */
const ROWS_PER_STEP = 20;

function* parseAll(rows: readonly Buffer[], objects: ViewObject[]): Steps {
  for (const [i, row] of rows.entries()) {
    objects.push(JSON.parse(row.toString()) as ViewObject);
    if (i % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
  }
}

interface Sources {
  readonly allSeries: readonly MetricSeries[];
  readonly labels: ReadonlyMap<string, string>;
  readonly columns: FamilyColumns;
  readonly parts: string[];
}

function* writeMeasured(
  family: MeasuredFamily,
  number: number,
  { allSeries, labels, columns, parts }: Sources,
): Steps {
  const { name, factor, label } = family;
  let isFirst = true;
  for (const [i, series] of allSeries.entries()) {
    if (i % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
    const objectLabels = labels.get(series.uuid);
    if (objectLabels === undefined) continue;
    for (const column of columns.of(series.columnSet).get(number) ?? []) {
      const value = shortest(series.at(series.end, column.column)) * factor;
      if (!Number.isFinite(value)) continue;
      const columnLabel =
        label === undefined ? "" : `,${toLabels({ [label]: column.label })}`;
      if (isFirst) parts.push(openMetricsHead(family));
      isFirst = false;
      parts.push(
        sampleLine(name, objectLabels + columnLabel, value, series.end),
      );
    }
  }
}

interface ObjectWriter {
  readonly write: (object: ViewObject) => void;
  readonly parts: string[];
}

function* writeEach(
  family: MetricFamily,
  objects: readonly ViewObject[],
  { write, parts }: ObjectWriter,
): Steps {
  parts.push(openMetricsHead(family));
  for (const [i, object] of objects.entries()) {
    write(object);
    if (i % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
  }
}

function hostLabels(host: ViewObject, names: Names) {
  return {
    pool_id: text(host["$pool"]),
    uuid: text(host["id"]),
    type: "host",
    pool_name: names.get(String(host["$pool"])),
    host_name: text(host["name_label"]),
    tags: tagsOf(host),
  };
}

function vmLabels(vm: ViewObject, type: string, names: Names) {
  const host = String(vm["$container"]);
  return {
    pool_id: text(vm["$pool"]),
    uuid: text(vm["id"]),
    type: "vm",
    host_id: host,
    pool_name: names.get(String(vm["$pool"])),
    host_name: names.get(host),
    vm_name: text(vm["name_label"]),
    is_control_domain: String(type === "VM-controller"),
    tags: tagsOf(vm),
  };
}
