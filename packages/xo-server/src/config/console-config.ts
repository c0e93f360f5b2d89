import { count, milliseconds, section } from "./config-parts.js";

export const ConsoleConfig = section("Consoles of VMs and hosts.", {
  maxSessions: count(500, "Maximum number of open consoles."),
  maxSessionsPerUser: count(60, "Maximum number of open consoles per user."),
  maxSessionsPerObject: count(
    10,
    "Maximum number of open consoles per VM or host.",
  ),
  connectTimeoutMs: milliseconds(
    15_000,
    "Timeout of opening a console at the pool, in ms.",
  ),
  pingMs: milliseconds(
    20_000,
    "Interval of checks that the client is alive and still authorized, in ms.",
  ),
});
