import type { ViewObject } from "@xo-server/inventory";
import type { HealthCheck } from "./health-check.js";
import type { HealthItem } from "./health-findings.js";

type Details = NonNullable<HealthItem["details"]>;

const hostVersions: HealthCheck = {
  name: "hostVersions",
  severity: "warning",
  type: "pool",
  async find(reader) {
    const hosts = await reader.objects("host", ["version", "build"]);
    const byPool = new Map<string, Map<string, string[]>>();
    for (const { id, $pool, version, build } of hosts) {
      const versions = byPool.get(String($pool)) ?? new Map<string, string[]>();
      byPool.set(String($pool), versions);
      const name = `${String(version)} ${String(build)}`.trim();
      versions.set(name, [...(versions.get(name) ?? []), String(id)]);
    }
    const different = new Map<string, Details>();
    for (const [pool, versions] of byPool)
      if (versions.size > 1)
        different.set(pool, { versions: Object.fromEntries(versions) });
    return reader.named("pool", different);
  },
};

const restartRequired: HealthCheck = {
  name: "restartRequired",
  severity: "warning",
  type: "host",
  find: (reader) =>
    reader.filtered({ type: "host", filter: "rebootRequired?" }),
};

const toolstackRestartRequired: HealthCheck = {
  name: "toolstackRestartRequired",
  severity: "info",
  type: "host",
  find: (reader) =>
    reader.filtered({
      type: "host",
      filter: "pendingGuidances:/^restart_toolstack$/ !rebootRequired?",
    }),
};

/** Remaining validity below which a certificate is reported, in seconds. */
const SOON = 30 * 86_400;

const expiringCertificates: HealthCheck = {
  name: "expiringCertificates",
  severity: "warning",
  type: "host",
  async find(reader) {
    const hosts = await reader.objects("host", ["certificates"]);
    const ending = new Map<string, Details>();
    for (const host of hosts) {
      const notAfter = firstEnd(host);
      if (notAfter < reader.now + SOON)
        ending.set(String(host["id"]), { notAfter });
    }
    return reader.named("host", ending);
  },
};

/** Earliest expiry in seconds since the epoch; Infinity without certificates. */
function firstEnd({ certificates }: ViewObject): number {
  const all = (certificates ?? []) as readonly { notAfter?: number }[];
  return Math.min(...all.map(({ notAfter = Infinity }) => notAfter));
}

/** Maximum clock difference, in seconds. With a larger one HA and TLS sessions fail. */
const MAX_OFFSET = 2.5;

const clockOffsets: HealthCheck = {
  name: "clockOffsets",
  severity: "warning",
  type: "host",
  async find(reader) {
    const running = "power_state:/^Running$/";
    const hosts = await reader.objects("host", [], running);
    const ids = hosts.map(({ id }) => String(id));
    const offsets = await reader.hostClocks.offsets(ids);
    const wrong = new Map<string, Details>();
    for (const [host, offset] of offsets)
      if (Math.abs(offset) > MAX_OFFSET)
        wrong.set(host, { offset: Math.round(offset) });
    const unknown = ids.length - offsets.size;
    const found = await reader.named("host", wrong);
    return unknown === 0 ? found : { ...found, unknown };
  },
};

export const hostChecks: readonly HealthCheck[] = [
  expiringCertificates,
  clockOffsets,
  hostVersions,
  restartRequired,
  toolstackRestartRequired,
];
