/** Names of members that are durations in milliseconds. */
const DURATION = /(^|[a-z])Ms$|^(bootTimeout|forceShutdownDelay)$/;

const UNITS = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
  { name: "s", ms: 1_000 },
] as const;

/**
 * A duration in its two largest units, such as `12.3 s`, `4 min 5 s`; undefined: the value is none.
 * @param name of the member; the last part of a path counts
 * @param value milliseconds
 */
export function toDuration(name: string, value: unknown): string | undefined {
  if (typeof value !== "number" || !DURATION.test(name.split(".").at(-1)!))
    return undefined;
  if (!Number.isFinite(value) || value < 0) return undefined;
  if (value < 1_000) return `${Math.round(value)} ms`;
  if (value < 59_950) return `${Number((value / 1_000).toFixed(1))} s`;
  const seconds = Math.round(value / 1_000) * 1_000;
  const at = UNITS.findIndex(({ ms }) => seconds >= ms);
  const [large, small] = UNITS.slice(at, at + 2);
  const count = Math.floor(seconds / large!.ms);
  const rest = Math.floor((seconds % large!.ms) / small!.ms);
  const first = `${count} ${large!.name}`;
  return rest === 0 ? first : `${first} ${rest} ${small!.name}`;
}
