import { count, section } from "./config-parts.js";

export const ActivityConfig = section(
  "What is remembered of what happens in the pools.",
  {
    entries: count(20_000, "The newest; about 400 bytes each.", 16),
    hours: count(24, "Older ones are forgotten."),
  },
);
