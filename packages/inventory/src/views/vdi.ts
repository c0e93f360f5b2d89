import { fieldProperty } from "./field-property.js";
import type { XapiRecord } from "../store/record-rows.js";
import { readRawOperations } from "./operations.js";
import type { View, ViewLinks, ViewObject, ViewSource } from "./view.js";
import { toSeconds } from "./values/instant.js";
import { toInteger } from "./values/integer.js";
import { toTextList } from "./values/lists.js";
import { toMaskedMap } from "./values/maps.js";
import { memberOf, toFlag, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";

const DISK = "VDI";
const SNAPSHOT = "VDI-snapshot";

/**
 * Limit when following a chain of images: real chains have at most 30, a longer
 * one is corrupt or circular.
 */
const MAX_CHAIN_LENGTH = 64;

/** The shape of VDIs and their snapshots that clients of Xen Orchestra know; property names are part of the API. */
export const vdiView: View = {
  className: "VDI",
  types: [DISK, SNAPSHOT, "VDI-unmanaged"],
  typeOf,
  build,
  reads: { VDI: ["physical_utilisation", "sm_config"] },
  properties: {
    name_label: fieldProperty("name_label", toText),
    name_description: fieldProperty("name_description", toText),
    tags: fieldProperty("tags", toTextList),
    VDI_type: fieldProperty("type", toText),
    cbt_enabled: fieldProperty("cbt_enabled", toFlag),
    size: fieldProperty("virtual_size", toInteger),
    usage: fieldProperty("physical_utilisation", toInteger),
    image_format: ({ record }) => toImageFormat(record),
    missing: ({ record }) => toFlag(record.missing),
    parent: ({ record }) => parentOf(record),
    $SR: ({ record, links }) => links.id("SR", record.SR),
    $VBDs: ({ record, links }) => links.ids("VBD", record.VBDs),
    snapshot_time: ({ record }) =>
      typeOf(record) === SNAPSHOT ? toSeconds(record.snapshot_time) : undefined,
    $snapshot_of: ({ record, links }) =>
      typeOf(record) === SNAPSHOT
        ? links.id("VDI", record.snapshot_of)
        : undefined,
  },
  searched: ["id", "name_label", "name_description", "tags"],
};

/** An absent `managed` counts as true. */
function typeOf(record: XapiRecord): string {
  if (record.is_a_snapshot === true) return SNAPSHOT;
  return record.managed === false ? "VDI-unmanaged" : DISK;
}

function build({ record, links }: ViewSource): ViewObject {
  const type = typeOf(record);
  const parent = parentOf(record);
  const view: ViewObject = {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    VDI_type: toText(record.type),
    cbt_enabled: toFlag(record.cbt_enabled),
    missing: toFlag(record.missing),
    tags: toTextList(record.tags),
    current_operations: readRawOperations(record.current_operations),
    other_config: toMaskedMap(record.other_config),
    snapshots: links.ids("VDI", record.snapshots),
    $VBDs: links.ids("VBD", record.VBDs),
  };
  put(view, "size", toInteger(record.virtual_size));
  put(view, "usage", toInteger(record.physical_utilisation));
  put(view, "$SR", links.id("SR", record.SR));
  put(view, "parent", parent);
  put(view, "image_format", toImageFormat(record));
  if (type === DISK)
    put(view, "chainPhysicalUsage", toChainUsage(record, links));
  else if (type === SNAPSHOT) putSnapshot(view, record, links);
  return view;
}

function putSnapshot(
  view: ViewObject,
  record: XapiRecord,
  links: ViewLinks,
): void {
  put(view, "snapshot_time", toSeconds(record.snapshot_time));
  put(view, "$snapshot_of", links.id("VDI", record.snapshot_of));
}

function toImageFormat(record: XapiRecord): string | undefined {
  return toNonEmptyText(memberOf(record.sm_config, "image-format"));
}

function parentOf(record: XapiRecord): string | undefined {
  return toNonEmptyText(memberOf(record.sm_config, "vhd-parent"));
}

/** Physical size in bytes of the image and its ancestors. */
function toChainUsage(
  record: XapiRecord,
  links: ViewLinks,
): number | undefined {
  const own = toInteger(record.physical_utilisation);
  if (own === undefined) return undefined;
  let usage = own;
  let parent = parentOf(record);
  for (let i = 0; i < MAX_CHAIN_LENGTH && parent !== undefined; i++) {
    const image: XapiRecord | undefined = links.recordByUuid?.(DISK, parent);
    if (image === undefined) break;
    usage += toInteger(image.physical_utilisation) ?? 0;
    parent = parentOf(image);
  }
  return usage;
}
