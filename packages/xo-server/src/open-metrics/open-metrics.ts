import type {
  Inventory,
  Queries,
  Steps,
  ViewObject,
} from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { HostStats } from "../stats/host-stats.js";
import { toStatsHost } from "../stats/object-stats.js";
import { shortest } from "../stats/shortest.js";
import type { Track } from "../stats/track.js";
import type { PoolStatus } from "../status/status.js";
import { pause } from "../tasks/pause.js";
import { familyColumns } from "./family-columns.js";
import { measuredFamilies, type MeasuredFamily } from "./measured-families.js";
import { objectFamilies, tagsOf, text, type Names } from "./object-families.js";
import { familyHead, sample, toLabels, type Family } from "./sample-text.js";

export interface OpenMetricsOptions {
  readonly queries: Pick<Queries, "page">;
  readonly objects: Pick<PoolObjects, "get">;
  readonly stats: Pick<HostStats, "latest">;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly listPools: () => readonly PoolStatus[];
  /** The name by which a pool is listed, by the id of its object. */
  readonly poolOf: (id: string) => string | undefined;
  readonly clock: Clock;
}

/** Prometheus waits for ten seconds; hosts that take longer tell the next time. */
const WITHIN_MS = 6_000;

/** Characters that are sent at a time. */
const PART = 64 * 1024;

/** Figures of all pools as OpenMetrics has them: CONTRACT 5. Made as fast as they are taken, in slices. */
export class OpenMetrics {
  readonly #options: OpenMetricsOptions;

  constructor(options: OpenMetricsOptions) {
    this.#options = options;
  }

  async *read(): AsyncGenerator<Buffer> {
    const { inventory } = this.#options;
    const names = new Map<string, string>();
    await this.#name("pool", names);
    yield Buffer.from(this.#pools(names));
    await this.#name("host", names);
    await this.#name("SR", names);
    const told = await this.#measured();
    const labels = await this.#labels(names);
    const parts: string[] = [];
    const write = async function* (steps: Steps) {
      await inventory.runInSlices("open metrics", steps);
      const all = parts.join("");
      parts.length = 0;
      for (let at = 0; at < all.length; at += PART)
        yield Buffer.from(all.slice(at, at + PART));
    };
    for (const [number, family] of measuredFamilies.entries())
      yield* write(writeMeasured(family, number, { told, labels, parts }));
    for (const family of objectFamilies) {
      const objects = await this.#all(family.type, family.fields);
      const now = this.#options.clock.now() / 1000;
      const tell = (object: ViewObject) => {
        const found = family.read(object, names, now);
        if (found !== undefined && Number.isFinite(found.value))
          parts.push(
            sample(family.name, toLabels(found.labels), found.value, now),
          );
      };
      yield* write(writeEach(family, objects, tell, parts));
    }
    yield Buffer.from("# EOF\n");
  }

  #pools(names: Names): string {
    const family: Family = {
      name: "xcp_pool_connected",
      kind: "gauge",
      help: "Whether a pool is followed (1) or not (0)",
    };
    const { listPools, poolOf } = this.#options;
    const ids = new Map([...names.keys()].map((id) => [poolOf(id), id]));
    const samples = listPools().map(({ id, label, state }) => {
      const isConnected = state === "watching" || state === "re-listing";
      const pool_id = ids.get(id) ?? id;
      const labels = { pool_id, pool_name: names.get(pool_id) ?? label };
      return sample(family.name, toLabels(labels), isConnected ? 1 : 0);
    });
    return familyHead(family) + samples.join("");
  }

  async #name(type: string, names: Map<string, string>): Promise<void> {
    for (const object of await this.#all(type, ["name_label"]))
      names.set(String(object["id"]), String(object["name_label"]));
  }

  /** Of hosts that do not tell, nothing. */
  async #measured(): Promise<Track[]> {
    const { objects, stats, clock } = this.#options;
    const hosts = await this.#all("host", ["power_state"]);
    const told: Track[] = [];
    const early = new AbortController();
    const all = Promise.all(
      hosts.map(async ({ id, power_state }) => {
        if (power_state !== "Running") return;
        try {
          const host = toStatsHost(objects.get(String(id), "host"));
          for (const track of await stats.latest(host)) told.push(track);
        } catch {
          // It shows as a host without figures.
        }
      }),
    );
    await Promise.race([all, pause(clock, WITHIN_MS, early.signal)]);
    early.abort();
    return [...told];
  }

  /** Labels of hosts and of VMs that run, by their ids. */
  async #labels(names: Names): Promise<ReadonlyMap<string, string>> {
    const fields = ["$pool", "name_label", "tags", "$container"];
    const labels = new Map<string, string>();
    for (const host of await this.#all("host", fields))
      labels.set(String(host["id"]), toLabels(hostLabels(host, names)));
    for (const type of ["VM", "VM-controller"]) {
      const isUp = "power_state:/^(Running|Paused)$/";
      for (const vm of await this.#all(type, fields, isUp))
        labels.set(String(vm["id"]), toLabels(vmLabels(vm, type, names)));
    }
    return labels;
  }

  async #all(type: string, fields: readonly string[], filter = "") {
    const { queries, inventory } = this.#options;
    const asked = { type, filter, sort: [], fields: ["id", ...fields] };
    const { rows } = await queries.page(asked);
    const objects: ViewObject[] = [];
    await inventory.runInSlices("open metrics", parseAll(rows, objects));
    return objects;
  }
}

/** Objects of a few fields between two looks at the clock. */
const ROWS_A_STEP = 20;

function* parseAll(rows: readonly Buffer[], objects: ViewObject[]): Steps {
  for (const [i, row] of rows.entries()) {
    objects.push(JSON.parse(row.toString()) as ViewObject);
    if (i % ROWS_A_STEP === ROWS_A_STEP - 1) yield;
  }
}

interface Sources {
  readonly told: readonly Track[];
  readonly labels: ReadonlyMap<string, string>;
  readonly parts: string[];
}

function* writeMeasured(
  family: MeasuredFamily,
  number: number,
  { told, labels, parts }: Sources,
): Steps {
  const { name, factor, label } = family;
  let isFirst = true;
  for (const [i, track] of told.entries()) {
    if (i % ROWS_A_STEP === ROWS_A_STEP - 1) yield;
    const whose = labels.get(track.uuid);
    if (whose === undefined) continue;
    for (const mine of familyColumns(track.shape).get(number) ?? []) {
      const value = shortest(track.at(track.end, mine.column)) * factor;
      if (!Number.isFinite(value)) continue;
      const own =
        label === undefined ? "" : `,${toLabels({ [label]: mine.label })}`;
      if (isFirst) parts.push(familyHead(family));
      isFirst = false;
      parts.push(sample(name, whose + own, value, track.end));
    }
  }
}

function* writeEach(
  family: Family,
  objects: readonly ViewObject[],
  tell: (object: ViewObject) => void,
  parts: string[],
): Steps {
  parts.push(familyHead(family));
  for (const [i, object] of objects.entries()) {
    tell(object);
    if (i % ROWS_A_STEP === ROWS_A_STEP - 1) yield;
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
