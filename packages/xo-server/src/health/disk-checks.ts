import type { Steps } from "@xo-server/inventory";
import type { HealthCheck } from "./health-check.js";
import type { HealthFindings } from "./health-findings.js";
import type { HealthReader } from "./health-reader.js";

/** Filter of disks with data of VMs, as opposed to disks of HA, logs and metadata. */
const USER_DATA_DISKS = "VDI_type:/^(user|system)$/";

const orphanDisks: HealthCheck = {
  name: "orphanDisks",
  severity: "info",
  type: "VDI",
  async find(reader) {
    // Images of ISO libraries are usually not attached.
    const srs = await reader.objects("SR", [], "content_type:/^iso$/");
    const isos = srs.map(({ id }) => JSON.stringify(id)).join(" ");
    return reader.filtered({
      type: "VDI",
      filter: `${USER_DATA_DISKS} !$VBDs:/./${isos === "" ? "" : ` !$SR:|(${isos})`}`,
      ...sizes,
    });
  },
};

const orphanDiskSnapshots: HealthCheck = {
  name: "orphanDiskSnapshots",
  severity: "info",
  type: "VDI-snapshot",
  find: (reader) =>
    reader.filtered({
      type: "VDI-snapshot",
      filter: `${USER_DATA_DISKS} !$snapshot_of? !$VBDs:/./`,
      ...sizes,
    }),
};

const missingDisks: HealthCheck = {
  name: "missingDisks",
  severity: "error",
  type: "VDI",
  find: (reader) =>
    reader.filtered({ type: "VDI", filter: "missing?", ...sizes }),
};

const sizes = {
  fields: ["$SR", "size", "usage"],
  toDetails: ({ $SR, size, usage }: Readonly<Record<string, unknown>>) => ({
    sr: $SR,
    size,
    usage,
  }),
};

const controlDomainDisks: HealthCheck = {
  name: "controlDomainDisks",
  severity: "warning",
  type: "VDI",
  async find(reader) {
    const domains = await reader.objects("VM-controller", ["$VBDs"]);
    const attached = new Map<string, { controlDomain: unknown }>();
    for (const { id, $VBDs } of domains) {
      const vbds = ($VBDs ?? []) as readonly string[];
      if (vbds.length === 0) continue;
      const filter = `VDI? !is_cd_drive? VM:${JSON.stringify(id)}`;
      for (const { VDI } of await reader.objects("VBD", ["VDI"], filter))
        attached.set(String(VDI), { controlDomain: id });
    }
    return reader.named("VDI", attached);
  },
};

/** XAPI refuses snapshots of VHD disks with 30 images. */
const LONG_CHAIN = 15;

const longChains: HealthCheck = {
  name: "longChains",
  severity: "warning",
  type: "VDI",
  async find(reader): Promise<HealthFindings> {
    const parents = new Map<string, string>();
    const disks = new Set<string>();
    for (const type of ["VDI", "VDI-snapshot", "VDI-unmanaged"]) {
      const { ids, column } = await reader.table(type, ["parent"], "parent?");
      const parent = column("parent");
      await reader.runInSlices(
        inSteps(ids, (id, row) => {
          parents.set(id, String(parent(row)));
          if (type === "VDI") disks.add(id);
        }),
      );
    }
    return reader.named("VDI", await findLongChains(disks, parents, reader));
  },
};

async function findLongChains(
  disks: ReadonlySet<string>,
  parents: ReadonlyMap<string, string>,
  reader: HealthReader,
): Promise<Map<string, { length: number }>> {
  const long: [string, { length: number }][] = [];
  await reader.runInSlices(
    inSteps([...disks], (id) => {
      const length = chainLength(id, parents);
      if (length >= LONG_CHAIN) long.push([id, { length }]);
    }),
  );
  return new Map(long.sort(([, a], [, b]) => b.length - a.length));
}

/** Number of images in the chain of a disk, including its own; a cycle is counted once. */
function chainLength(
  disk: string,
  parents: ReadonlyMap<string, string>,
): number {
  const seen = new Set<string>();
  let image: string | undefined = disk;
  while (image !== undefined && !seen.has(image)) {
    seen.add(image);
    image = parents.get(image);
  }
  return seen.size;
}

/** Number of items that are processed before the event loop may be yielded. */
const STEP = 64;

/** Calls a function for each item; the event loop may be yielded after each STEP items. */
export function* inSteps<T>(
  items: readonly T[],
  run: (item: T, index: number) => void,
): Steps {
  for (const [index, item] of items.entries()) {
    run(item, index);
    if (index % STEP === STEP - 1) yield;
  }
}

export const diskChecks: readonly HealthCheck[] = [
  missingDisks,
  controlDomainDisks,
  longChains,
  orphanDisks,
  orphanDiskSnapshots,
];
