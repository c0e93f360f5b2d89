import type { ErrorObject } from "ajv";
import {
  toSchemaProblems,
  type SchemaProblem,
} from "../validation/schema-problem.js";

/** A problem of the config; `path`: keys and indexes from the root. */
export type ConfigProblem = SchemaProblem;

/** Validation errors of Ajv as problems of the config file. */
export function toConfigProblems(
  errors: readonly ErrorObject[],
): ConfigProblem[] {
  return toSchemaProblems(errors, "key");
}
