import type { Messages } from "../locale/messages.js";

/** Names of properties as requests write them, in `sort`, `fields` and `by`. */
type PropertyPath = keyof Messages["filters"]["properties"];

export interface Property {
  readonly path: PropertyPath;
  readonly kind: "text" | "number" | "boolean" | "choice" | "time" | "object";
  /** Unit of a number; bytes and shares (0 to 1) are shown and typed in larger units. */
  readonly unit?: "bytes" | "share" | "rate" | "mbits";
  /** All possible values, as the server has them. */
  readonly choices?: readonly string[];
  /** Type of the object that the property refers to. */
  readonly of?: string;
  /** Has so few distinct values that all can be requested (query.group). */
  readonly isGrouped?: boolean;
}

const text = (path: PropertyPath): Property => ({ path, kind: "text" });
const grouped = (path: PropertyPath): Property => ({
  ...text(path),
  isGrouped: true,
});
const number = (
  path: PropertyPath,
  unit?: NonNullable<Property["unit"]>,
): Property => ({
  path,
  kind: "number",
  ...(unit === undefined ? {} : { unit }),
});
const flag = (path: PropertyPath): Property => ({ path, kind: "boolean" });
const time = (path: PropertyPath): Property => ({ path, kind: "time" });
const choice = (path: PropertyPath, ...choices: string[]): Property => ({
  path,
  kind: "choice",
  choices,
});
const object = (path: PropertyPath, of: string): Property => ({
  path,
  kind: "object",
  of,
});

const named = [text("name_label"), text("name_description")];
const tags = grouped("tags");
const folder = grouped("folder");
const pool = object("$pool", "pool");
const id = text("id");
const now = [
  number("now.cpu", "share"),
  number("now.memory", "bytes"),
  number("now.disk", "rate"),
  number("now.network", "rate"),
];
const machine = [number("CPUs.number"), number("memory.size", "bytes")];
const system = [grouped("os_version.name"), grouped("os_version.distro")];

/** Properties of each type for filters, sorting and columns, the most used first. */
const byType: Readonly<Record<string, readonly Property[]>> = {
  VM: [
    text("name_label"),
    choice("power_state", "Running", "Halted", "Suspended", "Paused"),
    tags,
    object("$container", "host"),
    pool,
    text("mainIpAddress"),
    ...machine,
    ...now,
    ...system,
    folder,
    time("startTime"),
    time("installTime"),
    text("name_description"),
    flag("auto_poweron"),
    choice("high_availability", "restart", "best-effort"),
    flag("managementAgentDetected"),
    grouped("virtualizationMode"),
    id,
  ],
  "VM-template": [
    ...named,
    tags,
    folder,
    pool,
    ...machine,
    flag("isDefaultTemplate"),
    grouped("virtualizationMode"),
    id,
  ],
  "VM-snapshot": [
    ...named,
    tags,
    pool,
    object("$snapshot_of", "VM"),
    time("snapshot_time"),
    ...machine,
    ...system,
    id,
  ],
  host: [
    text("name_label"),
    choice("power_state", "Running", "Halted", "Unknown"),
    flag("enabled"),
    flag("rebootRequired"),
    pool,
    tags,
    text("address"),
    text("hostname"),
    ...now,
    number("memory.size", "bytes"),
    number("memory.usage", "bytes"),
    number("cpus.cores"),
    grouped("version"),
    grouped("productBrand"),
    time("startTime"),
    text("name_description"),
    id,
  ],
  pool: [
    ...named,
    tags,
    flag("HA_enabled"),
    number("cpus.cores"),
    grouped("platform_version"),
    object("master", "host"),
    object("default_SR", "SR"),
    id,
  ],
  SR: [
    text("name_label"),
    grouped("SR_type"),
    flag("shared"),
    pool,
    object("$container", "host"),
    number("size", "bytes"),
    number("physical_usage", "bytes"),
    number("usage", "bytes"),
    tags,
    choice("allocationStrategy", "thin", "thick", "unknown"),
    grouped("content_type"),
    flag("inMaintenanceMode"),
    text("name_description"),
    id,
  ],
  VDI: [
    ...named,
    tags,
    object("$SR", "SR"),
    number("size", "bytes"),
    number("usage", "bytes"),
    grouped("VDI_type"),
    grouped("image_format"),
    flag("cbt_enabled"),
    pool,
    id,
  ],
  network: [
    ...named,
    tags,
    pool,
    grouped("bridge"),
    number("MTU"),
    flag("isBonded"),
    flag("automatic"),
    flag("defaultIsLocked"),
    flag("nbd"),
    id,
  ],
  PIF: [
    text("device"),
    text("deviceName"),
    object("$host", "host"),
    object("$network", "network"),
    pool,
    number("vlan"),
    text("mac"),
    text("ip"),
    choice("mode", "None", "DHCP", "Static"),
    flag("attached"),
    flag("carrier"),
    number("speed", "mbits"),
    number("mtu"),
    flag("management"),
    flag("physical"),
    id,
  ],
  VIF: [
    object("$VM", "VM"),
    object("$network", "network"),
    text("MAC"),
    number("MTU"),
    flag("attached"),
    grouped("lockingMode"),
    pool,
    id,
  ],
  task: [
    ...named,
    choice(
      "status",
      "pending",
      "success",
      "failure",
      "cancelling",
      "cancelled",
    ),
    number("progress", "share"),
    time("created"),
    time("finished"),
    object("$host", "host"),
    pool,
    id,
  ],
  message: [grouped("name"), time("time"), text("$object"), pool, id],
};

/** Paths in which the server searches for words, by type; the same as its `search`. */
const searched: Readonly<Record<string, readonly string[]>> = {
  VM: [
    "id",
    "name_label",
    "name_description",
    "tags",
    "mainIpAddress",
    "addresses",
    "os_version.name",
  ],
  host: ["id", "name_label", "name_description", "hostname", "address", "tags"],
  pool: ["id", "name_label", "name_description", "tags"],
  SR: ["id", "name_label", "name_description", "tags", "SR_type"],
  VDI: ["id", "name_label", "name_description", "tags"],
  network: ["id", "name_label", "name_description", "tags", "bridge"],
  PIF: ["id", "device", "deviceName", "mac", "ip"],
  VIF: ["id", "MAC", "allowedIpv4Addresses", "allowedIpv6Addresses"],
  task: ["id", "name_label", "name_description"],
  message: ["id", "name"],
};

/** Properties by which objects of a type can be filtered, sorted and shown; none for an unknown type. */
export function propertiesOf(type: string): readonly Property[] {
  return (Object.hasOwn(byType, type) && byType[type]) || [];
}

/** @param path with dots @returns undefined: it is not in the table */
export function propertyOf(type: string, path: string): Property | undefined {
  return propertiesOf(type).find((property) => property.path === path);
}

/** Paths in which words without a property are searched. */
export function searchedPathsOf(type: string): readonly string[] {
  const like = type.startsWith("VM-") ? "VM" : type.replace(/^VDI-.*/, "VDI");
  return (Object.hasOwn(searched, like) && searched[like]) || ["name_label"];
}

/**
 * Names of the property as a filter nests them: `memory.size` is `memory:size:`,
 * but `now.cpu` is one name.
 */
export function filterNames(path: string): readonly string[] {
  return path.startsWith("now.") ? [path] : path.split(".");
}
