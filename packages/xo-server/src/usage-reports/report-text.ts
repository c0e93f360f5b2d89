import { sizeText } from "../notifications/size-text.js";
import type { Consumer, PoolFigures, TopList } from "./usage-figures.js";

/** A figure of a pool as text, with its change since the previous period. */
interface FigureLine {
  readonly name: string;
  readonly value: string;
  /** Empty: unchanged, or there is no previous period. */
  readonly change: string;
}

export const listNames: Readonly<Record<TopList, string>> = {
  vmCpu: "VMs by CPU usage",
  vmMemory: "VMs by memory",
  vmDisk: "VMs by disk throughput",
  vmNetwork: "VMs by network throughput",
  hostCpu: "Hosts by CPU usage",
  hostMemory: "Hosts by memory",
  srs: "SRs by used space",
};

const units: Readonly<Record<TopList, (value: number) => string>> = {
  vmCpu: toPercent,
  vmMemory: sizeText,
  vmDisk: (value) => `${sizeText(value)}/s`,
  vmNetwork: (value) => `${sizeText(value)}/s`,
  hostCpu: toPercent,
  hostMemory: sizeText,
  srs: toPercent,
};

/** The figure of a consumer with its unit. */
export function valueText(list: TopList, { value }: Consumer): string {
  return units[list](value);
}

/** Lines of the table of a pool, with the change since the period before. */
export function figureLines(pool: PoolFigures): readonly FigureLine[] {
  const { before } = pool;
  const counted = (name: string, key: "hosts" | "vms" | "runningVms") => ({
    name,
    value: String(pool[key]),
    change: change(pool[key], before?.[key], String),
  });
  const used = (name: string, key: "memory" | "storage") => {
    const size = pool[`${key}Size`];
    const value = pool[key];
    return {
      name,
      value:
        value === null
          ? "unknown"
          : `${sizeText(value)} of ${sizeText(size)}${shareOf(value, size)}`,
      change: change(value, before?.[key], sizeText),
    };
  };
  return [
    counted("Hosts", "hosts"),
    counted("VMs", "vms"),
    counted("Running VMs", "runningVms"),
    {
      name: "CPU usage",
      value: pool.cpu === null ? "unknown" : toPercent(pool.cpu),
      change: change(pool.cpu, before?.cpu, toPercent),
    },
    used("Memory usage", "memory"),
    used("Used space of SRs", "storage"),
  ];
}

function change(
  now: number | null,
  before: number | null | undefined,
  format: (value: number) => string,
): string {
  if (now === null || before == null) return "";
  const text = format(Math.abs(now - before));
  if (text === format(0)) return "";
  return now > before ? `+${text}` : `\u2212${text}`;
}

function shareOf(value: number, size: number): string {
  return size > 0 ? ` (${toPercent((100 * value) / size)})` : "";
}

function toPercent(value: number): string {
  return `${value.toFixed(1)} %`;
}

/** `2026-11-20 to 2026-11-27`, in UTC */
export function periodText({
  from,
  to,
}: {
  readonly from: number;
  readonly to: number;
}): string {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return `${day(from)} to ${day(to)}`;
}
