import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";

/** A check of the server (`health.getReport`) and its result. */
export interface HealthCheck {
  readonly name: string;
  readonly severity: "error" | "warning" | "info";
  /** Type of the objects. */
  readonly type: string;
  readonly total: number;
  /** The first affected objects. */
  readonly items: readonly HealthItem[];
  readonly filter?: string;
  /** Objects that could not be checked. */
  readonly unknown?: number;
}

interface HealthItem {
  readonly id: string;
  readonly name?: string;
  readonly pool?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface HealthReport {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly checks: readonly HealthCheck[];
  readonly complete?: false;
}

interface HealthLocalization {
  readonly texts: Messages["health"];
  readonly formats: Formats;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const ranks = { error: 0, warning: 1, info: 2 } as const;

/** Checks with problems, the most urgent first, and the others. */
export function sortChecks({ checks }: HealthReport): {
  readonly found: readonly HealthCheck[];
  readonly passed: readonly HealthCheck[];
} {
  const found = checks
    .filter(({ total }) => total > 0)
    .sort((a, b) => ranks[a.severity] - ranks[b.severity]);
  return { found, passed: checks.filter(({ total }) => total === 0) };
}

/** Text of the problem of one object; empty if the name of the check is sufficient. */
export function detailText(
  { name }: Pick<HealthCheck, "name">,
  { details = {} }: HealthItem,
  localization: HealthLocalization,
): string {
  return detailTexts[name]?.(details, localization) ?? "";
}

type DetailText = (
  details: Readonly<Record<string, unknown>>,
  localization: HealthLocalization,
) => string;

const sizeText: DetailText = ({ size, usage }, { texts, formats }) =>
  typeof size !== "number"
    ? ""
    : typeof usage !== "number"
      ? formats.size(size)
      : fill(texts.sizes, {
          size: formats.size(size),
          usage: formats.size(usage),
        });

const timeText: DetailText = ({ time }, { formats, now }) =>
  typeof time === "number" ? formats.ago(now - time * 1000) : "";

const detailTexts: Readonly<Partial<Record<string, DetailText>>> = {
  orphanDisks: sizeText,
  orphanDiskSnapshots: sizeText,
  missingDisks: sizeText,
  oldSnapshots: timeText,
  orphanVmSnapshots: timeText,
  fullStorage: ({ size, usage }, { texts, formats }) =>
    fill(texts.used, {
      share: formats.share(Number(usage) / Number(size)),
      size: formats.size(Number(size)),
    }),
  detachedStorage: ({ hosts }, { texts, formats }) =>
    formats.plural(texts.hosts, lengthOf(hosts)),
  longChains: ({ length }, { texts, formats }) =>
    formats.plural(texts.images, Number(length)),
  duplicateMacs: ({ mac, others }, { texts, formats }) =>
    `${String(mac)} · ${formats.plural(texts.others, lengthOf(others))}`,
  hostVersions: ({ versions }, { texts, formats }) =>
    Object.entries((versions ?? {}) as Readonly<Record<string, unknown>>)
      .map(
        ([version, hosts]) =>
          `${version}: ${formats.plural(texts.hosts, lengthOf(hosts))}`,
      )
      .join(" · "),
  expiringCertificates: ({ notAfter }, { texts, formats, now }) => {
    const left = Number(notAfter) * 1000 - now;
    return left > 0
      ? fill(texts.expires, { time: formats.span(left) })
      : fill(texts.expired, { age: formats.ago(-left) });
  },
  vmRestartRequired: ({ guidances }, { texts }) => {
    const needed = Array.isArray(guidances) ? guidances : [];
    // A reboot includes a new device model.
    return needed.includes("restart_vm")
      ? texts.guidances.restart_vm
      : texts.guidances.restart_device_model;
  },
  clockOffsets: ({ offset }, { texts, formats }) => {
    const seconds = Number(offset);
    const time = formats.duration(Math.abs(seconds) * 1000);
    return fill(seconds > 0 ? texts.ahead : texts.behind, { time });
  },
};

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
