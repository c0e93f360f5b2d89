import { count, milliseconds, section } from "./config-parts.js";

export const ConsoleConfig = section(
  "Screens and terminals of VMs and hosts.",
  {
    maxSessions: count(500, "Consoles open at the same time at most."),
    maxSessionsPerUser: count(60, "The same of one user."),
    maxSessionsPerObject: count(10, "The same of one VM or host."),
    connectTimeoutMs: milliseconds(
      15_000,
      "A console that the pool has not opened within is given up.",
    ),
    pingMs: milliseconds(
      20_000,
      "How often it is looked whether somebody is still there, and may still be.",
    ),
  },
);
