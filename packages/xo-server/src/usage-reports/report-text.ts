import type { Consumer, PoolFigures, TopList } from "./usage-figures.js";

/** A figure of a pool in words, with its change since the last period. */
export interface FigureLine {
  readonly name: string;
  readonly value: string;
  /** Empty: unchanged, or there is no last period. */
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
  vmMemory: toSize,
  vmDisk: (value) => `${toSize(value)}/s`,
  vmNetwork: (value) => `${toSize(value)}/s`,
  hostCpu: toPercent,
  hostMemory: toSize,
  srs: toPercent,
};

export function valueText(list: TopList, { value }: Consumer): string {
  return units[list](value);
}

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
          : `${toSize(value)} of ${toSize(size)}${shareOf(value, size)}`,
      change: change(value, before?.[key], toSize),
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

const sizeUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function toSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < sizeUnits.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 ? 0 : 1)} ${sizeUnits[unit]}`;
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
