import type { View, ViewLinks, ViewObject, ViewSource } from "./view.js";
import { toInteger } from "./values/integer.js";
import { toTextList } from "./values/lists.js";
import { isMap, setMember, toMaskedMap } from "./values/maps.js";
import { toFlag, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** A graphics card of a host. Links are ids; unset links are absent. */
export const pgpuView: View = {
  className: "PGPU",
  types: ["PGPU"],
  typeOf: () => "PGPU",
  build: buildPgpu,
  reads: {},
  searched: ["id"],
};

/** A virtual GPU of a VM. */
export const vgpuView: View = {
  className: "VGPU",
  types: ["vgpu"],
  typeOf: () => "vgpu",
  build: buildVgpu,
  reads: {},
  searched: ["id"],
};

/** Graphics cards of the same kind in a pool. */
export const gpuGroupView: View = {
  className: "GPU_group",
  types: ["gpuGroup"],
  typeOf: () => "gpuGroup",
  build: buildGpuGroup,
  reads: {},
  searched: ["id", "name_label", "name_description"],
};

/** A type of virtual GPU that cards can provide. */
export const vgpuTypeView: View = {
  className: "VGPU_type",
  types: ["vgpuType"],
  typeOf: () => "vgpuType",
  build: buildVgpuType,
  reads: {},
  searched: ["id", "modelName", "vendorName"],
};

function buildPgpu({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    dom0Access: toText(record.dom0_access),
    enabledVgpuTypes: links.ids("VGPU_type", record.enabled_VGPU_types),
    isSystemDisplayDevice: toFlag(record.is_system_display_device),
    supportedVgpuMaxCapacities: toCapacities(
      record.supported_VGPU_max_capacities,
      links,
    ),
    supportedVgpuTypes: links.ids("VGPU_type", record.supported_VGPU_types),
    vgpus: links.ids("VGPU", record.resident_VGPUs),
  };
  put(view, "$host", links.id("host", record.host));
  put(view, "gpuGroup", links.id("GPU_group", record.GPU_group));
  put(view, "pci", links.id("PCI", record.PCI));
  return view;
}

function buildVgpu({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    currentlyAttached: toFlag(record.currently_attached),
    device: toText(record.device),
    otherConfig: toMaskedMap(record.other_config),
  };
  put(view, "gpuGroup", links.id("GPU_group", record.GPU_group));
  put(view, "resident_on", links.id("PGPU", record.resident_on));
  put(view, "vgpuType", links.id("VGPU_type", record.type));
  put(view, "vm", links.id("VM", record.VM));
  return view;
}

function buildGpuGroup({ record, links }: ViewSource): ViewObject {
  return {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    allocation: toText(record.allocation_algorithm),
    enabledVgpuTypes: links.ids("VGPU_type", record.enabled_VGPU_types),
    gpuTypes: toTextList(record.GPU_types),
    otherConfig: toMaskedMap(record.other_config),
    pgpus: links.ids("PGPU", record.PGPUs),
    supportedVgpuTypes: links.ids("VGPU_type", record.supported_VGPU_types),
    vgpus: links.ids("VGPU", record.VGPUs),
  };
}

function buildVgpuType({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    experimental: toFlag(record.experimental),
    modelName: toText(record.model_name),
    vendorName: toText(record.vendor_name),
    gpuGroups: links.ids("GPU_group", record.supported_on_GPU_groups),
    pgpus: links.ids("PGPU", record.supported_on_PGPUs),
    vgpus: links.ids("VGPU", record.VGPUs),
  };
  put(view, "framebufferSize", toInteger(record.framebuffer_size)); // bytes
  put(view, "maxHeads", toInteger(record.max_heads));
  put(view, "maxResolutionX", toInteger(record.max_resolution_x));
  put(view, "maxResolutionY", toInteger(record.max_resolution_y));
  return view;
}

/** Maximum number of virtual GPUs by the id of their type. */
function toCapacities(
  value: unknown,
  links: ViewLinks,
): Record<string, number> {
  const capacities: Record<string, number> = {};
  if (!isMap(value)) return capacities;
  for (const ref in value) {
    const id = links.id("VGPU_type", ref);
    const count = toInteger(value[ref]);
    if (id !== undefined && count !== undefined)
      setMember(capacities, id, count);
  }
  return capacities;
}
