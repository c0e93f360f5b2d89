import type { ViewObject } from "@xo-server/inventory";
import type { MetricFamily } from "./family.js";

/** Names of pools, hosts and SRs by their ids. */
export type Names = ReadonlyMap<string, string>;

interface ObjectSample {
  readonly labels: Readonly<Record<string, string | undefined>>;
  readonly value: number;
}

/** A family computed from objects of the catalog. */
interface ObjectFamily extends MetricFamily {
  readonly type: string;
  /** Top-level fields that `read` uses, besides the id. */
  readonly fields: readonly string[];
  /**
   * Returns the value, or undefined for an object without a sample.
   * @param now in seconds since the epoch
   */
  readonly read: (
    object: ViewObject,
    names: Names,
    now: number,
  ) => ObjectSample | undefined;
}

export const objectFamilies: readonly ObjectFamily[] = [
  {
    ...gauge("xcp_host_status", "Host status (1 = current state)", "host"),
    fields: ["$pool", "name_label", "power_state", "enabled", "tags"],
    read: (host, names) => ({
      labels: {
        ...labelsOf(host, names, "host_name"),
        power_state: text(host["power_state"]),
        enabled: text(host["enabled"]),
      },
      value: 1,
    }),
  },
  {
    ...gauge("xcp_host_uptime_seconds", "Host uptime in seconds", "host"),
    fields: ["$pool", "name_label", "power_state", "startTime", "tags"],
    read: (host, names, now) =>
      uptime(host, now, labelsOf(host, names, "host_name")),
  },
  {
    ...gauge("xcp_vm_status", "VM status (1 = current state)", "VM"),
    fields: ["$pool", "name_label", "power_state", "tags"],
    read: (vm, names) => ({
      labels: {
        ...labelsOf(vm, names, "vm_name"),
        power_state: text(vm["power_state"]),
      },
      value: 1,
    }),
  },
  {
    ...gauge("xcp_vm_uptime_seconds", "VM uptime in seconds", "VM"),
    fields: ["$pool", "name_label", "power_state", "startTime", "tags"],
    read: (vm, names, now) => uptime(vm, now, labelsOf(vm, names, "vm_name")),
  },
  ofSr("xcp_sr_virtual_size_bytes", "Allocated bytes of an SR", "usage"),
  ofSr("xcp_sr_physical_size_bytes", "Size of an SR in bytes", "size"),
  ofSr("xcp_sr_physical_usage_bytes", "Used bytes of an SR", "physical_usage"),
  ofVdi("xcp_vdi_virtual_size_bytes", "Virtual size of a VDI in bytes", "size"),
  ofVdi(
    "xcp_vdi_physical_usage_bytes",
    "Physical usage of a VDI in bytes",
    "usage",
  ),
];

function gauge(name: string, help: string, type: string) {
  return { name, help, type, kind: "gauge" as const };
}

function ofSr(name: string, help: string, field: string): ObjectFamily {
  return {
    ...gauge(name, help, "SR"),
    fields: ["$pool", "name_label", "content_type", "SR_type", "tags", field],
    read: (sr, names) => ({
      labels: {
        pool_id: text(sr["$pool"]),
        sr_uuid: text(sr["id"]),
        sr_name: text(sr["name_label"]),
        pool_name: names.get(String(sr["$pool"])),
        content_type: text(sr["content_type"]),
        sr_type: text(sr["SR_type"]),
        tags: tagsOf(sr),
      },
      value: Number(sr[field]),
    }),
  };
}

function ofVdi(name: string, help: string, field: string): ObjectFamily {
  return {
    ...gauge(name, help, "VDI"),
    fields: ["$pool", "name_label", "$SR", field],
    read: (vdi, names) => ({
      labels: {
        pool_id: text(vdi["$pool"]),
        sr_uuid: text(vdi["$SR"]),
        sr_name: names.get(String(vdi["$SR"])),
        vdi_uuid: text(vdi["id"]),
        vdi_name: text(vdi["name_label"]),
        pool_name: names.get(String(vdi["$pool"])),
      },
      value: Number(vdi[field]),
    }),
  };
}

function uptime(
  { power_state, startTime }: ViewObject,
  now: number,
  labels: ObjectSample["labels"],
): ObjectSample | undefined {
  const isUp = power_state === "Running" && typeof startTime === "number";
  return isUp
    ? { labels, value: Math.max(0, Math.floor(now) - startTime) }
    : undefined;
}

function labelsOf(object: ViewObject, names: Names, nameLabel: string) {
  return {
    pool_id: text(object["$pool"]),
    uuid: text(object["id"]),
    pool_name: names.get(String(object["$pool"])),
    [nameLabel]: text(object["name_label"]),
    tags: tagsOf(object),
  };
}

/** Sorted tags, separated by commas. */
export function tagsOf({ tags }: ViewObject): string {
  return Array.isArray(tags) ? tags.map(String).toSorted().join(",") : "";
}

/** Value of a label; undefined for what cannot be one. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "boolean"
    ? String(value)
    : undefined;
}
