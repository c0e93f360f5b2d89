import type { Catalog, Inventory, ViewObject } from "@xo-server/inventory";
import { Type, type Static } from "typebox";

/** Maximum number of disks listed by name; all are counted. */
const MAX_LISTED = 100;

const Disk = Type.Object({
  id: Type.String(),
  name: Type.String(),
  size: Type.Integer({ description: "Virtual size, in bytes." }),
});
const listed = (description: string) => Type.Array(Disk, { description });

export const DeletionSummary = Type.Object({
  vms: Type.Integer({ description: "Number of VMs that exist." }),
  running: Type.Integer({
    description:
      "Number of running VMs, which are shut down by a hard shutdown.",
  }),
  snapshots: Type.Integer({
    description: "Number of snapshots, which are deleted with their VMs.",
  }),
  disks: Type.Integer({
    description:
      "Number of disks that are deleted, including those of snapshots.",
  }),
  bytes: Type.Integer({
    description: "Space that the deleted disks use, in bytes.",
  }),
  keptDisks: Type.Integer({
    description:
      "Number of disks that are not deleted, because other VMs use them.",
  }),
  firstDisks: listed(`The first ${MAX_LISTED} disks that are deleted.`),
  firstKept: listed(`The first ${MAX_LISTED} disks that are not deleted.`),
});
export type DeletionSummary = Static<typeof DeletionSummary>;

interface Sources {
  readonly catalog: Pick<Catalog, "follow" | "get">;
  readonly inventory: Pick<Inventory, "runInSlices">;
}

/**
 * Summarizes what is lost when VMs, templates or snapshots are deleted.
 * @param mayRead whether the caller may read an object
 */
export async function summarizeDeletion(
  ids: readonly string[],
  { catalog, inventory }: Sources,
  mayRead: (type: string, object: ViewObject) => boolean,
): Promise<DeletionSummary> {
  await Promise.all(["VM", "VBD", "VDI"].map((name) => catalog.follow(name)));
  const counter = new DeletionCounter(ids, catalog, mayRead);
  await inventory.runInSlices("deletion summary", counter.count());
  return counter.summary();
}

class DeletionCounter {
  readonly #catalog: Sources["catalog"];
  readonly #mayRead: (type: string, object: ViewObject) => boolean;
  readonly #requested: ReadonlySet<string>;
  /** Selected VMs and their snapshots. */
  readonly #machines = new Map<string, ViewObject>();
  readonly #disks = new Map<string, ViewObject>();
  readonly #deleted: ViewObject[] = [];
  readonly #kept: ViewObject[] = [];
  #vms = 0;
  #running = 0;

  constructor(
    ids: readonly string[],
    catalog: Sources["catalog"],
    mayRead: (type: string, object: ViewObject) => boolean,
  ) {
    this.#requested = new Set(ids);
    this.#catalog = catalog;
    this.#mayRead = mayRead;
  }

  *count(): Generator<void, void, void> {
    for (const id of this.#requested) {
      const entry = this.#catalog.get(id);
      if (entry === undefined || !isMachine(entry.type)) continue;
      const object = parse(entry);
      if (!this.#mayRead(entry.type, object)) continue;
      this.#vms++;
      if (object["power_state"] === "Running") this.#running++;
      this.#machines.set(id, object);
      for (const snapshot of idsIn(object["snapshots"])) {
        const found = this.#read(snapshot);
        if (found !== undefined) this.#machines.set(snapshot, found);
      }
      yield;
    }
    for (const machine of this.#machines.values()) {
      this.#addDisks(machine);
      yield;
    }
    for (const disk of this.#disks.values()) {
      (this.#isShared(disk) ? this.#kept : this.#deleted).push(disk);
      yield;
    }
  }

  summary(): DeletionSummary {
    const snapshots = [...this.#machines.keys()].filter(
      (id) => !this.#requested.has(id),
    ).length;
    return {
      vms: this.#vms,
      running: this.#running,
      snapshots,
      disks: this.#deleted.length,
      bytes: this.#deleted.reduce((sum, { usage }) => sum + bytesOf(usage), 0),
      keptDisks: this.#kept.length,
      firstDisks: this.#deleted.slice(0, MAX_LISTED).map(toDisk),
      firstKept: this.#kept.slice(0, MAX_LISTED).map(toDisk),
    };
  }

  #addDisks(machine: ViewObject): void {
    for (const id of idsIn(machine["$VBDs"])) {
      const { VDI, is_cd_drive } = this.#read(id) ?? {};
      if (typeof VDI !== "string" || is_cd_drive === true) continue;
      const disk = this.#disks.has(VDI) ? undefined : this.#read(VDI);
      if (disk !== undefined) this.#disks.set(VDI, disk);
    }
  }

  /** Whether the disk is also attached to a VM that is not deleted. */
  #isShared(disk: ViewObject): boolean {
    return idsIn(disk["$VBDs"]).some((id) => {
      const vm = this.#read(id)?.["VM"];
      return typeof vm === "string" && !this.#machines.has(vm);
    });
  }

  #read(id: string): ViewObject | undefined {
    const entry = this.#catalog.get(id);
    return entry && parse(entry);
  }
}

function isMachine(type: string): boolean {
  return type === "VM" || type === "VM-template" || type === "VM-snapshot";
}

function parse({ json }: { readonly json: Buffer }): ViewObject {
  return JSON.parse(json.toString()) as ViewObject;
}

function idsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

function bytesOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

function toDisk(disk: ViewObject): DeletionSummary["firstDisks"][number] {
  const { id, name_label, size } = disk;
  return {
    id: String(id),
    name: typeof name_label === "string" ? name_label : "",
    size: bytesOf(size),
  };
}
