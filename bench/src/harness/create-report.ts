import {
  describeCommit,
  describeMachine,
  describeVersions,
} from "./machine.js";
import type { Report, Result } from "./result.js";

/** Results with what they depend on: machine, versions of the named packages, commit, day. */
export function createReport(
  results: readonly Result[],
  packages: readonly string[],
): Report {
  return {
    results,
    machine: describeMachine(),
    versions: describeVersions(packages),
    commit: describeCommit(),
    date: new Date().toISOString().slice(0, 10),
  };
}
