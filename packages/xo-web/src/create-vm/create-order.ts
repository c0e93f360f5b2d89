import type { Json } from "@xo-server/kit";
import type { DiskDraft, Draft } from "./draft.js";

export interface CreateOrder {
  readonly method: "vm.create" | "vm.createMultiple";
  readonly params: Record<string, Json>;
}

/**
 * The operation that creates the VMs of the form.
 * @param template the initial draft, to detect changes
 */
export function createOrder(
  draft: Draft,
  template: readonly DiskDraft[],
): CreateOrder {
  const params = {
    template: draft.template,
    name_label: draft.name.trim(),
    name_description: draft.description,
    ...machineOf(draft),
    ...bootOf(draft),
    ...requested("VDIs", disksOf(draft, template)),
    VIFs: draft.vifs.map(({ network, mac }) =>
      mac === "" ? { network } : { network, mac },
    ),
    ...configOf(draft),
    bootAfterCreate: draft.starts,
    ...(draft.fullCopy ? { clone: false } : {}),
    ...(draft.resourceSet === "" ? {} : { resourceSet: draft.resourceSet }),
  };
  if (draft.count === 1) return { method: "vm.create", params };
  const { count, firstIndex } = draft;
  return {
    method: "vm.createMultiple",
    params: { ...params, count, firstIndex },
  };
}

function machineOf(draft: Draft): Record<string, Json> {
  const tags = draft.tags
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  return {
    CPUs: draft.cpus,
    cpusMax: draft.cpus,
    memory: draft.memory,
    ...(draft.coresPerSocket > 0
      ? { coresPerSocket: draft.coresPerSocket }
      : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(draft.host === "" ? {} : { affinityHost: draft.host }),
    ...(draft.ha === "" ? {} : { high_availability: draft.ha }),
    ...(draft.autoPowerOn ? { auto_poweron: true } : {}),
    ...(draft.vtpm ? { createVtpm: true } : {}),
    ...(draft.secureBoot ? { secureBoot: true } : {}),
  };
}

function bootOf({ boot, iso }: Draft): Record<string, Json> {
  if (boot === "iso" && iso !== "")
    return { installation: { method: "cdrom", repository: iso } };
  return boot === "network"
    ? { installation: { method: "network", repository: "pxe" } }
    : {};
}

/**
 * Disks of the template are included only when changed. If the template only
 * describes its disks, the server creates exactly the included ones: any
 * change includes all of them.
 */
function disksOf(
  { disks }: Draft,
  template: readonly DiskDraft[],
): readonly Json[] {
  const changes = changedDisks(disks, template);
  const isProvisioned = template.some((disk) => disk.isProvisioned === true);
  if (changes.length === 0 || disks.length === 0 || !isProvisioned)
    return changes;
  return disks.map((disk) => ({
    ...(disk.position === undefined ? {} : { userdevice: disk.position }),
    ...diskOrder(disk),
  }));
}

function changedDisks(
  disks: readonly DiskDraft[],
  template: readonly DiskDraft[],
): readonly Json[] {
  const orders: Json[] = [];
  for (const before of template) {
    const now = disks.find(({ position }) => position === before.position);
    const { position = "" } = before;
    if (now === undefined) orders.push({ userdevice: position, destroy: true });
    else if (JSON.stringify(now) !== JSON.stringify(before))
      orders.push({ userdevice: position, ...diskOrder(now) });
  }
  for (const disk of disks)
    if (disk.position === undefined) orders.push(diskOrder(disk));
  return orders;
}

function diskOrder({ name, size, sr }: DiskDraft): Record<string, Json> {
  return {
    size,
    ...(name === "" ? {} : { name_label: name }),
    ...(sr === "" ? {} : { SR: sr }),
  };
}

function configOf(draft: Draft): Record<string, Json> {
  if (draft.cloudConfig === "") return {};
  return {
    cloudConfig: draft.cloudConfig,
    ...(draft.networkConfig === ""
      ? {}
      : { networkConfig: draft.networkConfig }),
    ...(draft.dropsConfig && draft.starts
      ? { destroyCloudConfigVdiAfterBoot: true }
      : {}),
  };
}

function requested(key: string, list: readonly Json[]): Record<string, Json> {
  return list.length === 0 ? {} : { [key]: [...list] };
}
