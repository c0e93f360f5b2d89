import { count, section } from "./config-parts.js";

export const JobConfig = section("What is remembered of jobs.", {
  keptRunsOfJob: count(100, "Runs of one job, the newest."),
  keptRuns: count(10_000, "Runs of all jobs."),
});
