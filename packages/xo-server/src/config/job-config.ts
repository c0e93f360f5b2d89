import { count, section } from "./config-parts.js";

export const JobConfig = section("History of job runs, in the database.", {
  maxRunsPerJob: count(
    100,
    "Maximum number of runs per job. Older runs are removed.",
  ),
  maxRuns: count(10_000, "Maximum number of runs of all jobs."),
});
