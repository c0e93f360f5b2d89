import type { PoolWarning } from "../api/status.js";
import { fill, type Messages } from "../locale/messages.js";

/** Explanation of a warning about a pool, and advice; the message of the server if there is no text. */
export function warningText(
  { code, message, data }: PoolWarning,
  { pools }: Messages,
): string {
  return Object.hasOwn(pools.warnings, code)
    ? fill(pools.warnings[code as keyof typeof pools.warnings], data)
    : message;
}
