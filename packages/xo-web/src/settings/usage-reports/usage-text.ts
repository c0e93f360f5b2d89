import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import type { PoolTotals, TopList } from "./usage-report.js";

interface UsageLocalization {
  readonly texts: Messages["usageReports"];
  readonly formats: Pick<Formats, "count" | "size" | "bytes">;
  readonly unknown: string;
}

interface FigureRow {
  readonly name: string;
  readonly value: string;
  /** Since the last period; empty: unchanged or not known. */
  readonly change: string;
}

/** Rows of the table of a pool, with the change since the period before. */
export function figureRows(
  pool: PoolTotals & { readonly before?: PoolTotals },
  { texts, formats, unknown }: UsageLocalization,
): readonly FigureRow[] {
  const { figures } = texts;
  const row = (
    key: "hosts" | "vms" | "runningVms" | "cpu" | "memory" | "storage",
    format: (value: number) => string,
    size?: number,
  ): FigureRow => {
    const value = pool[key];
    const before = pool.before?.[key];
    const shown = value === null ? unknown : format(value);
    return {
      name: figures[key],
      value:
        size === undefined || value === null
          ? shown
          : fill(texts.of, { used: shown, size: format(size) }),
      change: changeOf(value, before, format),
    };
  };
  const size = (bytes: number) => formats.size(bytes);
  const count = (n: number) => formats.count(n);
  return [
    row("hosts", count),
    row("vms", count),
    row("runningVms", count),
    row("cpu", percent),
    row("memory", size, pool.memorySize),
    row("storage", size, pool.storageSize),
  ];
}

function changeOf(
  value: number | null,
  before: number | null | undefined,
  format: (value: number) => string,
): string {
  if (value === null || before === null || before === undefined) return "";
  const text = format(Math.abs(value - before));
  if (text === format(0)) return "";
  return value > before ? `+${text}` : `−${text}`;
}

/** The figure of a consumer with its unit. */
export function valueText(
  list: TopList,
  value: number,
  { formats }: Pick<UsageLocalization, "formats">,
): string {
  switch (list) {
    case "vmCpu":
    case "hostCpu":
    case "srs":
      return percent(value);
    case "vmDisk":
    case "vmNetwork":
      return `${formats.bytes(value)}/s`;
    case "vmMemory":
    case "hostMemory":
      return formats.size(value);
  }
}

function percent(value: number): string {
  return `${value.toFixed(1)} %`;
}
