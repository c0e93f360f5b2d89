import type { HealthCheck } from "./health-check.js";
import { MAX_ITEMS } from "./health-findings.js";
import { toItem } from "./health-reader.js";

/** Used share of the size above which an SR counts as nearly full. */
const NEARLY_FULL = 0.9;

const fullStorage: HealthCheck = {
  name: "fullStorage",
  severity: "error",
  type: "SR",
  async find(reader) {
    const srs = await reader.objects(
      "SR",
      ["size", "physical_usage", "allocationStrategy"],
      "size:>0 !content_type:/^iso$/",
    );
    const full = srs
      .map((sr) => ({ sr, share: shareOf(sr) }))
      .filter(({ share }) => share >= NEARLY_FULL)
      .sort((a, b) => b.share - a.share);
    const items = full.slice(0, MAX_ITEMS).map(({ sr }) =>
      toItem(sr, ({ size, physical_usage, allocationStrategy }) => ({
        size,
        usage: physical_usage,
        allocation: allocationStrategy,
      })),
    );
    return { total: full.length, items };
  },
};

function shareOf({
  size,
  physical_usage,
}: Readonly<Record<string, unknown>>): number {
  return Number(physical_usage) / Number(size);
}

const detachedStorage: HealthCheck = {
  name: "detachedStorage",
  severity: "error",
  type: "SR",
  async find(reader) {
    const pbds = await reader.objects("PBD", ["SR", "host"], "!attached?");
    const hosts = new Map<string, { hosts: string[] }>();
    for (const { SR, host } of pbds) {
      const sr = String(SR);
      if (SR === undefined) continue;
      const found = hosts.get(sr) ?? { hosts: [] };
      found.hosts.push(String(host));
      hosts.set(sr, found);
    }
    return reader.named("SR", hosts);
  },
};

export const storageChecks: readonly HealthCheck[] = [
  fullStorage,
  detachedStorage,
];
