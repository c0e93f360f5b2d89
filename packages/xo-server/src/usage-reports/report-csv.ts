import { topLists, type UsageFigures } from "./usage-figures.js";

/** Names of the totals, and their units in the table. */
const totals = [
  ["hosts", "hosts", ""],
  ["VMs", "vms", ""],
  ["running VMs", "runningVms", ""],
  ["CPU usage", "cpu", "percent"],
  ["memory usage", "memory", "bytes"],
  ["memory size", "memorySize", "bytes"],
  ["used space of SRs", "storage", "bytes"],
  ["size of SRs", "storageSize", "bytes"],
] as const;

const listUnits = {
  vmCpu: ["CPU usage of a VM", "percent"],
  vmMemory: ["memory of a VM", "bytes"],
  vmDisk: ["disk throughput of a VM", "bytes/s"],
  vmNetwork: ["network throughput of a VM", "bytes/s"],
  hostCpu: ["CPU usage of a host", "percent"],
  hostMemory: ["memory of a host", "bytes"],
  srs: ["used space of an SR", "percent"],
} as const;

/** All figures as one table (RFC 4180) with one figure per line, in machine-readable units. */
export function toCsv({ pools }: UsageFigures): string {
  const lines: (readonly (string | number | null | undefined)[])[] = [
    [
      "pool",
      "pool id",
      "figure",
      "object",
      "object id",
      "unit",
      "value",
    ].concat("last period"),
  ];
  for (const pool of pools) {
    for (const [name, key, unit] of totals)
      lines.push([
        pool.name,
        pool.id,
        name,
        "",
        "",
        unit,
        pool[key],
        pool.before?.[key],
      ]);
    for (const list of topLists) {
      const [name, unit] = listUnits[list];
      for (const { id, name: object, value } of pool.top[list])
        lines.push([pool.name, pool.id, name, object, id, unit, value, ""]);
    }
  }
  return lines.map((line) => `${line.map(toCell).join(",")}\r\n`).join("");
}

function toCell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(Math.round(value * 100) / 100);
  // Spreadsheets interpret such text as a formula, and any user can choose names.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
