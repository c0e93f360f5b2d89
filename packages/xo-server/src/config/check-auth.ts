import type { Config } from "./config.js";
import type { ConfigProblem } from "./config-problem.js";

/** Servers of a database learn of the last use of a session within two minutes. */
const MIN_IDLE_MINUTES = 5;

/** Checks that a schema cannot express. */
export function checkAuth({
  sessionIdleMinutes: idle,
}: Config["auth"]): ConfigProblem[] {
  if (idle === 0 || idle >= MIN_IDLE_MINUTES) return [];
  const reason = `must be 0 or at least ${MIN_IDLE_MINUTES}`;
  return [{ path: ["auth", "sessionIdleMinutes"], reason }];
}
