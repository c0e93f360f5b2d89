import type { PoolWarning } from "../api/status.js";
import { fill, type Messages } from "../locale/messages.js";

/** What a warning about a pool means, and what to do; the server's message if there is no text. */
export function warningText(
  { code, message, data }: PoolWarning,
  { pools }: Messages,
): string {
  return Object.hasOwn(pools.warnings, code)
    ? fill(pools.warnings[code as keyof typeof pools.warnings], data)
    : message;
}
