import type { Inventory, Queries, Steps } from "@xo-server/inventory";
import type {
  GroupModel,
  HostModel,
  HostAffinityModel,
  PoolModel,
  VmModel,
} from "@xo-server/placement";
import type { PlacementRules } from "./placement-rules.js";
import { internalNetworks, readHost } from "./read-host.js";
import { PoolRecords, stringsIn } from "./read-records.js";
import { readVm } from "./read-vm.js";

interface ModelSources {
  readonly inventory: Pick<Inventory, "list" | "peek" | "column">;
  readonly queries: Pick<Queries, "metrics">;
  readonly rules: PlacementRules;
}

/** Index of the CPU metric in metricNames of packages/inventory. */
const CPU = 0;

/** Builds the planner's model of a pool, one record per step. */
export class ModelReader {
  readonly #sources: ModelSources;
  readonly #records: PoolRecords;
  readonly #pool: string;
  readonly #tags: ReadonlySet<string>;
  readonly #hosts: HostModel[] = [];
  readonly #cpus = new Map<string, string | undefined>();
  readonly #vms: VmModel[] = [];
  readonly #byTag = new Map<string, string[]>();
  readonly #byGroup = new Map<string, string[]>();
  readonly #byAffinity = new Map<string, string[]>();
  #model: PoolModel | undefined;

  /**
   * @param pool id of the pool
   * @param connection id of the pool connection
   */
  constructor(pool: string, connection: string, sources: ModelSources) {
    this.#sources = sources;
    this.#pool = pool;
    this.#tags = sources.rules.tagsOf(pool);
    this.#records = new PoolRecords(sources.inventory, connection);
  }

  /** Available when all steps are done. */
  get model(): PoolModel {
    return this.#model!;
  }

  *steps(): Steps {
    yield* this.#readHosts();
    yield* this.#readVms();
    yield;
    const { rules } = this.#sources;
    const stored = rules.toModel(this.#pool, {
      vms: new Set(this.#vms.map(({ id }) => id)),
      hosts: new Set(this.#cpus.keys()),
      byTag: this.#byTag,
    });
    this.#model = {
      hosts: this.#hosts,
      vms: this.#vms,
      groups: [...stored.groups, ...this.#xapiGroups()],
      hostAffinities: [...stored.locations, ...this.#hostAffinities()],
    };
  }

  *#readHosts(): Steps {
    const records = this.#records;
    const now = this.#sources.queries.metrics("host");
    const networks = internalNetworks(records);
    for (const { ref } of records.list("host")) {
      const record = records.get("host", ref);
      if (record === undefined) continue;
      const id = String(record.uuid);
      const cpu = now.get(id, CPU);
      const host = readHost(record, records, { cpu, networks });
      this.#hosts.push(host);
      this.#cpus.set(id, host.cpu);
      yield;
    }
  }

  *#readVms(): Steps {
    const records = this.#records;
    const now = this.#sources.queries.metrics("VM");
    for (const found of records.list("VM")) {
      yield;
      if (
        found.column("is_a_template") === true ||
        found.column("is_a_snapshot") === true ||
        found.column("is_control_domain") === true
      )
        continue;
      const record = records.get("VM", found.ref);
      if (record === undefined) continue;
      const cpu = now.get(String(record.uuid), CPU);
      const vm = readVm(record, records, { cpu, cpus: this.#cpus });
      this.#vms.push(vm);
      for (const tag of stringsIn(record.tags))
        if (this.#tags.has(tag)) add(this.#byTag, tag, vm.id);
      for (const group of stringsIn(record.groups))
        add(this.#byGroup, group, vm.id);
      const affinity = records.id("host", record.affinity);
      if (affinity !== undefined && this.#cpus.has(affinity))
        add(this.#byAffinity, affinity, vm.id);
    }
  }

  /** XAPI's VM groups with `placement` anti_affinity: preferences. */
  #xapiGroups(): GroupModel[] {
    return Array.from(this.#byGroup, ([ref, vms]) => {
      const record = this.#records.get("VM_group", ref);
      const isApart = record?.placement === "anti_affinity" && vms.length > 1;
      const id = String(record?.uuid);
      return isApart
        ? [{ id, kind: "anti-affinity" as const, required: false, vms }]
        : [];
    }).flat();
  }

  #hostAffinities(): HostAffinityModel[] {
    return Array.from(this.#byAffinity, ([host, vms]) => ({
      id: `affinity-${host}`,
      vms,
      hosts: [host],
      score: 1,
    }));
  }
}

function add(map: Map<string, string[]>, key: string, id: string): void {
  const ids = map.get(key);
  if (ids === undefined) map.set(key, [id]);
  else ids.push(id);
}
