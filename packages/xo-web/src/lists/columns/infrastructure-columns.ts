import type { ObjectRow } from "../../api/object-row.js";
import type { Column } from "./column.js";
import {
  column,
  countOf,
  numberOf,
  object,
  shown,
  textOf,
  textsOf,
  unsorted,
} from "./column-of.js";
import {
  created,
  description,
  home,
  id,
  name,
  pool,
  tags,
} from "./shared-columns.js";

export const pools: readonly Column[] = [
  name,
  shown(description),
  shown(object("master", "host")),
  shown(column("cores", "number", 5, { sortBy: "cpus.cores" })),
  shown(column("HA_enabled", "flag", 6)),
  shown(object("default_SR", "SR")),
  shown(column("platform_version", "text", 7)),
  column("auto_poweron", "flag", 6.5),
  { ...shown(tags), isShownIfWide: true },
  id,
];

export const sr: readonly Column[] = [
  name,
  shown(
    column("usage", "used", 13, {
      sortBy: "physical_usage",
      fields: ["physical_usage", "size"],
      value: (row) => ({
        used: numberOf(row["physical_usage"]),
        size: numberOf(row["size"]),
      }),
    }),
  ),
  shown(column("size", "bytes", 6)),
  shown(column("SR_type", "text", 6.5)),
  shown(column("shared", "flag", 6)),
  shown(home),
  shown(pool),
  shown(
    unsorted(
      column("vdis", "count", 5, {
        fields: ["VDIs"],
        value: (row) => countOf(row["VDIs"]),
      }),
    ),
  ),
  column("allocated", "bytes", 7, { sortBy: "usage" }),
  column("content_type", "text", 6.5),
  column("allocationStrategy", "text", 6.5),
  column("inMaintenanceMode", "flag", 8),
  tags,
  description,
  id,
];

export const vdi: readonly Column[] = [
  name,
  shown(column("size", "bytes", 6)),
  shown(column("usage", "bytes", 6)),
  shown(
    unsorted(
      column("users", "disk-vms", 11, {
        fields: ["$VBDs"],
        value: (row) => textsOf(row["$VBDs"]),
      }),
    ),
  ),
  shown(object("$SR", "SR")),
  column("VDI_type", "text", 6.5),
  shown(column("image_format", "text", 6)),
  unsorted(
    column("attached_to", "count", 6, {
      fields: ["$VBDs"],
      value: (row) => countOf(row["$VBDs"]),
    }),
  ),
  column("cbt_enabled", "flag", 6),
  shown(pool),
  tags,
  { ...shown(description), isShownIfWide: true },
  id,
];

export const network: readonly Column[] = [
  name,
  shown(description),
  shown(column("bridge", "text", 7)),
  shown(column("MTU", "number", 5)),
  shown(
    unsorted(
      column("pifs", "count", 5, {
        fields: ["PIFs"],
        value: (row) => countOf(row["PIFs"]),
      }),
    ),
  ),
  shown(
    unsorted(
      column("vifs", "count", 5, {
        fields: ["VIFs"],
        value: (row) => countOf(row["VIFs"]),
      }),
    ),
  ),
  shown(column("isBonded", "flag", 6)),
  shown(pool),
  column("automatic", "flag", 8),
  column("defaultIsLocked", "flag", 7),
  column("nbd", "flag", 5),
  tags,
  id,
];

export const pif: readonly Column[] = [
  shown(
    column("state", "state", 8.5, { sortBy: "carrier", fields: ["carrier"] }),
  ),
  shown(column("device", "name", 7.25, { grows: true })),
  shown(object("$host", "host")),
  { ...shown(object("$network", "network")), width: 9 },
  shown(
    column("vlan", "number", 4.5, {
      // -1 means none.
      value: (row) => (row["vlan"] === -1 ? undefined : numberOf(row["vlan"])),
    }),
  ),
  shown(column("ip", "text", 8.5)),
  { ...shown(column("mac", "code", 10)), isShownIfWide: true },
  shown(column("speed", "text", 6.5, { value: speedOf })),
  column("mtu", "number", 5),
  column("mode", "text", 6),
  shown(column("management", "flag", 8.5)),
  column("attached", "flag", 6),
  column("physical", "flag", 6),
  { ...shown(pool), width: 6 },
  column("deviceName", "text", 12),
  id,
];

export const message: readonly Column[] = [
  shown(column("time", "age", 10)),
  shown(column("name", "message", 16, { grows: true })),
  shown(
    unsorted(
      column("body", "text", 20, {
        grows: true,
        value: (row) => textOf(row["body"])?.replace(/\s+/g, " "),
      }),
    ),
  ),
  shown(column("$object", "about", 12, { sortBy: "$object" })),
  shown(pool),
  { ...created("moment"), sortBy: "time", fields: ["time"], value: timeOf },
  id,
];

/** XAPI reports Mbit/s. */
function speedOf(row: ObjectRow): string | undefined {
  const speed = numberOf(row["speed"]);
  if (speed === undefined || speed === 0) return undefined;
  return speed >= 1000 ? `${speed / 1000} Gbit/s` : `${speed} Mbit/s`;
}

function timeOf(row: ObjectRow): number | undefined {
  return numberOf(row["time"]);
}
