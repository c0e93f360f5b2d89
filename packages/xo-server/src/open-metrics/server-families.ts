import type { ViewObject } from "@xo-server/inventory";
import { sampleLine, toLabels, type Labels } from "../metrics/sample-text.js";
import { openMetricsHead } from "./family.js";

/** The numbers from which the metrics of the server itself (prefix `xo_`) are computed. */
interface ServerFigures {
  /** Undefined: unknown, because the database is unavailable. */
  readonly pendingTasks: number | undefined;
  readonly users: number;
  readonly groups: number;
  readonly pools: number;
  readonly vms: number;
  /** With the fields of `HOST_FIELDS`. */
  readonly hosts: readonly ViewObject[];
  /** With the fields of `SR_FIELDS`. */
  readonly srs: readonly ViewObject[];
}

export const HOST_FIELDS = [
  "cpus",
  "productBrand",
  "version",
  "license_params",
] as const;
export const SR_FIELDS = ["content_type"] as const;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/**
 * Writes the families of metrics that Xen Orchestra has about itself.
 * @param now in seconds since the epoch
 */
export function writeServerFamilies(
  figures: ServerFigures,
  now: number,
): string {
  const { pendingTasks, users, groups, pools, vms, hosts, srs } = figures;
  const sockets = hosts.map(({ cpus }) => Number(memberOf(cpus, "sockets")));
  const families: [name: string, help: string, samples: readonly Sample[]][] = [
    ["task_pending", "Number of pending tasks", one(pendingTasks)],
    ["pool_total", "Number of pools", one(pools)],
    ["host_total", "Number of hosts", one(hosts.length)],
    ["vm_total", "Number of VMs", one(vms)],
    ["user_total", "Number of users", one(users)],
    ["group_total", "Number of groups", one(groups)],
    [
      "socket_total",
      "Number of CPU sockets of all hosts",
      one(sockets.reduce((sum, count) => sum + (count || 0), 0)),
    ],
    [
      "sr_total",
      "Number of SRs by content type",
      countBy(srs, ({ content_type }) => ({
        content_type: toText(content_type, "unknown"),
      })),
    ],
    [
      "host_version_total",
      "Number of hosts by product and version",
      countBy(hosts, ({ productBrand, version }) => ({
        product_brand: toText(productBrand),
        version: toText(version),
      })),
    ],
    [
      "host_license_total",
      "Number of hosts by type of the license",
      countBy(hosts, ({ license_params }) => ({
        sku_type: toText(memberOf(license_params, "sku_type"), "?"),
      })),
    ],
  ];
  return families
    .map(([short, help, samples]) => {
      const name = `xo_${short}`;
      const lines = samples.map(({ labels, value }) =>
        sampleLine(name, toLabels(labels), value, now),
      );
      return openMetricsHead({ name, kind: "gauge", help }) + lines.join("");
    })
    .join("");
}

function one(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }];
}

function countBy(
  objects: readonly ViewObject[],
  labelsOf: (object: ViewObject) => Labels,
): readonly Sample[] {
  const counts = new Map<string, { labels: Labels; value: number }>();
  for (const object of objects) {
    const labels = labelsOf(object);
    const key = toLabels(labels);
    const count = counts.get(key) ?? { labels, value: 0 };
    count.value++;
    counts.set(key, count);
  }
  return [...counts.values()];
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | undefined)?.[name];
}

function toText(value: unknown, preset = ""): string {
  return typeof value === "string" ? value : preset;
}
