import type { ObjectRow } from "../../api/object-row.js";
import { systemName } from "../../objects/system-name.js";
import type { Column } from "./column.js";
import {
  column,
  countOf,
  numberOf,
  object,
  shown,
  textOf,
  unsorted,
  valueAt,
} from "./column-of.js";
import {
  cpuNow,
  created,
  description,
  diskNow,
  home,
  id,
  name,
  networkNow,
  pool,
  state,
  tags,
} from "./shared-columns.js";

const memoryNow: Column = shown(
  column("memory", "used", 10.75, {
    sortBy: "now.memory",
    fields: ["now.memory", "memory"],
    value: (row) => ({
      used: row.now?.memory,
      size: numberOf(valueAt(row, ["memory", "size"])),
    }),
  }),
);
const folder = column("folder", "text", 8);
const vcpus = column("vcpus", "number", 4.5, { sortBy: "CPUs.number" });
const memorySize = column("memory.size", "bytes", 8);
const system = column("os", "system", 6, {
  grows: true,
  sortBy: "os_version.name",
  value(row) {
    const name = textOf(valueAt(row, ["os_version", "name"]));
    return name === undefined ? undefined : systemName(name);
  },
});

export const vm: readonly Column[] = [
  { ...state, width: 9 },
  { ...name, width: 10.5 },
  { ...pool, width: 6, isShownOfSeveral: true },
  { ...cpuNow, width: 6.5 },
  memoryNow,
  { ...shown(diskNow), width: 6 },
  shown(networkNow),
  shown(column("mainIpAddress", "text", 8.25)),
  { ...shown(system), isOmittedOfSeveral: true },
  shown(home),
  tags,
  folder,
  vcpus,
  memorySize,
  column("high_availability", "text", 7),
  column("startTime", "age", 8),
  column("tools", "flag", 6, { sortBy: "managementAgentDetected" }),
  column("auto_poweron", "flag", 6.5),
  column("virtualizationMode", "text", 6.5),
  created("installTime"),
  description,
  id,
];

export const template: readonly Column[] = [
  name,
  shown(description),
  shown(vcpus),
  shown(memorySize),
  shown(column("isDefaultTemplate", "flag", 8)),
  shown(pool),
  tags,
  column("virtualizationMode", "text", 6.5),
  id,
];

export const snapshot: readonly Column[] = [
  { ...name, width: 13.25 },
  shown(object("$snapshot_of", "VM")),
  shown(column("snapshot_age", "age", 9, { sortBy: "snapshot_time" })),
  { ...shown(created("snapshot_time")), width: 13 },
  shown(vcpus),
  shown(memorySize),
  system,
  shown(pool),
  tags,
  description,
  id,
];

export const host: readonly Column[] = [
  {
    ...state,
    fields: ["power_state", "current_operations", "enabled"],
  },
  name,
  cpuNow,
  {
    ...memoryNow,
    sortBy: "memory.usage",
    width: 10,
    fields: ["memory"],
    value: (row: ObjectRow) => ({
      used: numberOf(valueAt(row, ["memory", "usage"])),
      size: numberOf(valueAt(row, ["memory", "size"])),
    }),
  },
  { ...shown(diskNow), width: 6, isOmittedOfSeveral: true },
  shown(networkNow),
  shown(
    column("vms", "count", 5, {
      fields: ["residentVms"],
      value: (row) => countOf(row["residentVms"], 1),
    }),
  ),
  shown(column("address", "text", 8.5)),
  shown(column("version", "text", 6)),
  { ...pool, width: 6, isShownOfSeveral: true },
  column("cores", "number", 5, { sortBy: "cpus.cores" }),
  { ...shown(column("startTime", "age", 7.25)), isShownIfWide: true },
  column("rebootRequired", "flag", 7),
  column("hostname", "text", 10),
  column("productBrand", "text", 8),
  tags,
  description,
  id,
].map((one) => (one.id === "vms" ? unsorted(one) : one));
