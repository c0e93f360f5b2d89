import { count, section } from "./config-parts.js";

export const ActivityConfig = section(
  "Activity log: events of the pools, in memory.",
  {
    maxEntries: count(
      20_000,
      "Maximum number of entries, about 400 bytes each. Older entries are removed.",
      16,
    ),
    retentionHours: count(24, "Entries are removed after this time, in hours."),
  },
);
