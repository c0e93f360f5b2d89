import { LocalDays } from "../../jobs/retention.js";

/** Times of the day, `22:00`. */
interface Window {
  readonly from: string;
  readonly to: string;
}

/**
 * Whether a time of the day is within a window, which may include midnight.
 * @param now ms since the epoch
 * @param timezone IANA name; default: that of the server
 */
export function isWithin(
  { from, to }: Window,
  now: number,
  timezone?: string,
): boolean {
  const time = new LocalDays(timezone).of(now).time.slice(0, 5);
  const at = time.replace("-", ":");
  return from <= to ? at >= from && at < to : at >= from || at < to;
}
