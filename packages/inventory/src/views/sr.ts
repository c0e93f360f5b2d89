import { fieldProperty } from "./field-property.js";
import type { XapiRecord } from "../store/record-rows.js";
import { localHostOf } from "./local-host.js";
import { readRawOperations } from "./operations.js";
import type { View, ViewLinks, ViewObject, ViewSource } from "./view.js";
import { toInteger } from "./values/integer.js";
import { firstOf, toTextList } from "./values/lists.js";
import { toMaskedMap } from "./values/maps.js";
import { memberOf, toFlag, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/**
 * Allocation strategy by storage driver: thick disks occupy their whole size,
 * thin disks only written data.
 */
const strategies = new Map<unknown, string>([
  ...["lvm", "lvmoiscsi", "lvmohba", "lvmofcoe"].map(asThick),
  ...["iscsi", "rawiscsi", "hba", "rawhba", "equal"].map(asThick),
  ...["nfs", "ext", "ext4", "xfs", "zfs", "file", "smb"].map(asThin),
  ...["largeblock", "cephfs", "glusterfs", "moosefs", "gfs2"].map(asThin),
]);

/** The shape of SRs that clients of Xen Orchestra know; property names are part of the API. */
export const srView: View = {
  className: "SR",
  types: ["SR"],
  typeOf: () => "SR",
  build,
  reads: { PBD: ["host", "device_config"] },
  properties: {
    name_label: fieldProperty("name_label", toText),
    name_description: fieldProperty("name_description", toText),
    tags: fieldProperty("tags", toTextList),
    SR_type: fieldProperty("type", toText),
    content_type: fieldProperty("content_type", toText),
    shared: fieldProperty("shared", toFlag),
    size: fieldProperty("physical_size", toInteger),
    physical_usage: fieldProperty("physical_utilisation", toInteger),
    $container: containerOf,
  },
  searched: ["id", "name_label", "name_description", "tags", "SR_type"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    content_type: toText(record.content_type),
    SR_type: toText(record.type),
    shared: toFlag(record.shared),
    tags: toTextList(record.tags),
    current_operations: readRawOperations(record.current_operations),
    inMaintenanceMode:
      memberOf(record.other_config, "xo:maintenanceState") !== undefined,
    other_config: toMaskedMap(record.other_config),
    sm_config: toMaskedMap(record.sm_config),
    VDIs: links.ids("VDI", record.VDIs),
    $PBDs: links.ids("PBD", record.PBDs),
  };
  putSizes(view, record);
  put(view, "$container", containerOf({ record, links }));
  put(view, "allocationStrategy", strategyOf(record, links));
  return view;
}

/** The host of local storage, otherwise the pool. */
function containerOf({
  record,
  links,
}: Pick<ViewSource, "record" | "links">): string | undefined {
  return localHostOf(record, links) ?? links.poolId;
}

/** Bytes. */
function putSizes(view: ViewObject, record: XapiRecord): void {
  put(view, "size", toInteger(record.physical_size));
  put(view, "physical_usage", toInteger(record.physical_utilisation));
  put(view, "usage", toInteger(record.virtual_allocation));
}

/** Undefined for drivers that allocate nothing (iso) and for unknown ones. */
function strategyOf(record: XapiRecord, links: ViewLinks): string | undefined {
  if (record.type !== "linstor") return strategies.get(record.type);
  const pbd = links.record("PBD", firstOf(record.PBDs));
  const provisioning = memberOf(pbd?.device_config, "provisioning");
  return provisioning === "thick" || provisioning === "thin"
    ? provisioning
    : "unknown";
}

function asThick(kind: string): [string, string] {
  return [kind, "thick"];
}

function asThin(kind: string): [string, string] {
  return [kind, "thin"];
}
