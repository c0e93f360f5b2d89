import type { Catalog, Queries, ViewObject } from "@xo-server/inventory";
import type { ResourceUsage } from "../vms/resource-sets.js";

export interface UsageSources {
  readonly catalog: Pick<Catalog, "follow" | "get">;
  readonly queries: Pick<Queries, "page">;
}

/** Usage of a set by the VMs in it, by limit. Sizes in bytes. */
export interface SetUsage {
  readonly cpus: number;
  readonly memory: number;
  readonly disk: number;
  readonly vms: number;
  readonly snapshots: number;
  /** Of each VM, by its id. */
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
  await Promise.all([catalog.follow("VBD"), catalog.follow("VDI")]);
  const usage = new Map<string, SetUsage>();
  let after: string | undefined;
  do {
    const page = await queries.page({
      type: "VM",
      filter: "resourceSet?",
      sort: [],
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const row of page.rows) {
      const vm = JSON.parse(row.toString()) as ViewObject;
      const setId = String(vm["resourceSet"]);
      usage.set(
        setId,
        withVm(
          usage.get(setId) ?? { ...noUsage, byVm: new Map() },
          vm,
          catalog,
        ),
      );
    }
    after = page.next;
  } while (after !== undefined);
  return usage;
}

function withVm(
  sum: SetUsage,
  vm: ViewObject,
  catalog: UsageSources["catalog"],
): SetUsage {
  const { CPUs, memory, $VBDs, snapshots } = vm as {
    readonly CPUs?: { readonly number?: number };
    readonly memory?: { readonly dynamic?: readonly number[] };
    readonly $VBDs?: readonly string[];
    readonly snapshots?: readonly string[];
  };
  const disks = new Set(($VBDs ?? []).flatMap((id) => diskOf(id, catalog)));
  const sizes = [...disks].map((id) => sizeOf(id, catalog));
  const own: Required<ResourceUsage> = {
    cpus: CPUs?.number ?? 0,
    memory: memory?.dynamic?.[1] ?? 0,
    disk: sizes.reduce((all, size) => all + size, 0),
    snapshots: snapshots?.length ?? 0,
  };
  return {
    cpus: sum.cpus + own.cpus,
    memory: sum.memory + own.memory,
    disk: sum.disk + own.disk,
    vms: sum.vms + 1,
    snapshots: sum.snapshots + own.snapshots,
    byVm: (sum.byVm as Map<string, ResourceUsage>).set(String(vm["id"]), own),
  };
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
