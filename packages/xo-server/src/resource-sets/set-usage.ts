import type { Catalog, Queries, ViewObject } from "@xo-server/inventory";
import type { ResourceUsage } from "../vms/limits/resource-sets.js";
import { isOfBackup } from "../vms/limits/set-growth.js";

export interface UsageSources {
  readonly catalog: Pick<Catalog, "follow" | "get">;
  readonly queries: Pick<Queries, "page">;
}

/**
 * Usage of a set by its VMs and templates, for each limit. Sizes in bytes: the
 * virtual sizes of the disks of VMs and of their snapshots (as in Xen Orchestra).
 * Not counted: suspend images, memory of snapshots, disks of backup snapshots.
 */
export interface SetUsage {
  readonly cpus: number;
  readonly memory: number;
  readonly disk: number;
  readonly vms: number;
  readonly snapshots: number;
  /** Usage of each VM, by its id. */
  readonly byVm: ReadonlyMap<string, ResourceUsage>;
}

export const noUsage: SetUsage = {
  cpus: 0,
  memory: 0,
  disk: 0,
  vms: 0,
  snapshots: 0,
  byVm: new Map(),
};

/** VMs per step of a slice. */
const PAGE = 100;

/** Current usage of each set, by its id. */
export async function readUsage({
  catalog,
  queries,
}: UsageSources): Promise<ReadonlyMap<string, SetUsage>> {
  const followed = ["VBD", "VDI", "VM"] as const;
  await Promise.all(followed.map((type) => catalog.follow(type)));
  const usage = new Map<string, SetUsage>();
  const counted = new Map<string, Set<string>>();
  for (const type of ["VM", "VM-template"])
    for await (const vm of objectsInSets(queries, type)) {
      const setId = String(vm["resourceSet"]);
      const sum = usage.get(setId) ?? { ...noUsage, byVm: new Map() };
      const known = counted.get(setId) ?? new Set();
      counted.set(setId, known);
      const isTemplate = type !== "VM";
      usage.set(setId, withVm(sum, vm, { catalog, isTemplate, known }));
    }
  return usage;
}

async function* objectsInSets(
  queries: UsageSources["queries"],
  type: string,
): AsyncGenerator<ViewObject> {
  let after: string | undefined;
  do {
    const page = await queries.page({
      type,
      filter: "resourceSet?",
      sort: [],
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const row of page.rows) yield JSON.parse(row.toString()) as ViewObject;
    after = page.next;
  } while (after !== undefined);
}

function withVm(
  sum: SetUsage,
  vm: ViewObject,
  {
    catalog,
    isTemplate,
    known,
  }: Pick<UsageSources, "catalog"> & {
    readonly isTemplate: boolean;
    /** Ids of disks that are already in the sum; the disks of the VM are added to them. */
    readonly known: Set<string>;
  },
): SetUsage {
  const {
    CPUs,
    memory,
    snapshots = [],
  } = vm as {
    readonly CPUs?: { readonly number?: number };
    readonly memory?: { readonly dynamic?: readonly number[] };
    readonly snapshots?: readonly string[];
  };
  const disks = new Set(
    [vm, ...snapshots.map((id) => read(id, catalog))]
      .filter((one) => one === vm || !isOfBackup(one))
      .flatMap((one) => disksOf(one, catalog)),
  );
  let [size, added] = [0, 0];
  for (const id of disks) {
    const bytes = sizeOf(id, catalog);
    size += bytes;
    if (!known.has(id)) added += bytes;
    known.add(id);
  }
  // A template cannot run, so it only uses storage.
  const own: ResourceUsage & { readonly snapshots: number } = {
    cpus: isTemplate ? 0 : (CPUs?.number ?? 0),
    memory: isTemplate ? 0 : (memory?.dynamic?.[1] ?? 0),
    disk: size,
    snapshots: snapshots.length,
  };
  return {
    cpus: sum.cpus + own.cpus,
    memory: sum.memory + own.memory,
    // A disk that is attached to several VMs is counted once.
    disk: sum.disk + added,
    vms: sum.vms + (isTemplate ? 0 : 1),
    snapshots: sum.snapshots + own.snapshots,
    byVm: (sum.byVm as Map<string, ResourceUsage>).set(String(vm["id"]), own),
  };
}

function disksOf(
  vm: ViewObject,
  catalog: Pick<Catalog, "get">,
): readonly string[] {
  const vbds = (vm["$VBDs"] ?? []) as readonly string[];
  return vbds.flatMap((id) => diskOf(id, catalog));
}

function diskOf(vbd: string, catalog: Pick<Catalog, "get">): readonly string[] {
  const { VDI, is_cd_drive } = read(vbd, catalog);
  return typeof VDI === "string" && is_cd_drive !== true ? [VDI] : [];
}

function sizeOf(vdi: string, catalog: Pick<Catalog, "get">): number {
  const { size } = read(vdi, catalog);
  return typeof size === "number" ? size : 0;
}

function read(id: string, catalog: Pick<Catalog, "get">): ViewObject {
  const json = catalog.get(id)?.json;
  return json === undefined ? {} : (JSON.parse(json.toString()) as ViewObject);
}
