import type { Config } from "./config.js";
import type { ConfigProblem } from "./config-problem.js";

/** Other servers of a database learn within two minutes when a session was last used. */
const MIN_IDLE_MINUTES = 5;

/** Checks of `auth` that a schema cannot express. */
export function checkAuth({
  sessionIdleMinutes: idle,
}: Config["auth"]): ConfigProblem[] {
  if (idle === 0 || idle >= MIN_IDLE_MINUTES) return [];
  const reason = `must be 0 or at least ${MIN_IDLE_MINUTES}`;
  return [{ path: ["auth", "sessionIdleMinutes"], reason }];
}
