import { XoError } from "@xo-server/model";

/** Bytes. XAPI requires staticMin <= dynamicMin <= dynamicMax <= staticMax. */
export interface MemoryLimits {
  readonly staticMin: number;
  readonly dynamicMin: number;
  readonly dynamicMax: number;
  readonly staticMax: number;
}

/** Bytes. */
interface MemoryChange {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly staticMax?: number | undefined;
}

/**
 * All four limits after a change of some. A halted VM that only gets a maximum gets
 * exactly that amount, so that its guest needs no balloon driver.
 * @throws XoError INVALID_PARAMETERS for a minimum above its maximum
 */
export function toMemoryLimits(
  now: MemoryLimits,
  change: MemoryChange,
  isRunning: boolean,
): MemoryLimits {
  const dynamicMax = change.max ?? Math.min(now.dynamicMax, ceiling(change));
  const fixed = change.max !== undefined && !isRunning;
  const dynamicMin =
    change.min ?? (fixed ? dynamicMax : Math.min(now.dynamicMin, dynamicMax));
  const staticMax =
    change.staticMax ??
    (fixed ? dynamicMax : Math.max(now.staticMax, dynamicMax));
  assertOrder("memoryMin", dynamicMin, { memoryMax: dynamicMax });
  assertOrder("memoryMax", dynamicMax, { memoryStaticMax: staticMax });
  const staticMin = Math.min(now.staticMin, dynamicMin);
  return { staticMin, dynamicMin, dynamicMax, staticMax };
}

/**
 * Limits as parameters of XAPI's calls: none if nothing differs, static limits only
 * if one of them differs.
 */
export function toMemoryCalls(
  now: MemoryLimits,
  next: MemoryLimits,
): (readonly [method: string, ...bytes: string[]])[] {
  const { staticMin, staticMax, dynamicMin, dynamicMax } = next;
  if (staticMin !== now.staticMin || staticMax !== now.staticMax) {
    const all = [staticMin, staticMax, dynamicMin, dynamicMax];
    return [["set_memory_limits", ...all.map(String)]];
  }
  if (dynamicMin === now.dynamicMin && dynamicMax === now.dynamicMax) return [];
  const range = [dynamicMin, dynamicMax];
  return [["set_memory_dynamic_range", ...range.map(String)]];
}

function ceiling({ staticMax = Infinity }: MemoryChange): number {
  return staticMax;
}

function assertOrder(
  name: string,
  value: number,
  limit: Readonly<Record<string, number>>,
): void {
  const [[other, most] = ["", 0]] = Object.entries(limit);
  if (value <= most) return;
  const reason = `${name} (${value}) is more than ${other} (${most})`;
  throw new XoError("INVALID_PARAMETERS", { reason });
}
