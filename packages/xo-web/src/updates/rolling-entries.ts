import { changedProperty, enteredNumber } from "../forms/changed-property.js";
import type { Json } from "@xo-server/kit";
import type { Windows } from "../details/pool/windows.js";
import { isWithin } from "../backup/jobs/job-entries.js";
import type { RollingJob } from "./rolling-job.js";

/** Values of the form fields of a job of rolling updates, as typed. */
interface RollingEntries {
  name: string;
  /** Number of the group of a pool, by its id; 0: not updated by this job. */
  groups: Record<string, number>;
  windows: Windows | undefined;
  parallel: string;
  concurrency: string;
  shutdownPinnedVms: boolean;
  migrateBack: boolean;
}

type RollingInputError = "required" | "pools" | "number";
export type RollingInputErrors = Partial<
  Record<keyof RollingEntries, RollingInputError>
>;

/** Limits of the server. */
const MAX_GROUPS = 32;
const bounds = { parallel: [1, 64], concurrency: [1, 32] } as const;

/** Initial values of the form. @param job undefined: a new one */
export function toRollingEntries(job: RollingJob | undefined): RollingEntries {
  const typed = (value: number | undefined) =>
    value === undefined ? "" : String(value);
  const groups = job?.groups ?? [];
  return {
    name: job?.name ?? "",
    groups: Object.fromEntries(
      groups.flatMap((pools, index) => pools.map((id) => [id, index + 1])),
    ),
    windows: job?.windows,
    parallel: typed(job?.parallel),
    concurrency: typed(job?.concurrency),
    shutdownPinnedVms: job?.shutdownPinnedVms ?? false,
    migrateBack: job?.migrateBack ?? false,
  };
}

/** Ids of pools by group, in their order; groups without pools are left out. */
export function groupsOf({
  groups,
}: Pick<RollingEntries, "groups">): readonly (readonly string[])[] {
  const numbers = new Set(Object.values(groups).filter((n) => n > 0));
  return [...numbers]
    .sort((a, b) => a - b)
    .map((number) => Object.keys(groups).filter((id) => groups[id] === number));
}

/** The groups that a pool can be assigned to: those in use and one more. */
export function groupChoices({
  groups,
}: Pick<RollingEntries, "groups">): readonly number[] {
  const last = Math.max(0, ...Object.values(groups));
  const count = Math.min(MAX_GROUPS, last + 1);
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** What is wrong in the form, by field; empty: it can be sent. */
export function rollingInputErrorsOf(
  entries: RollingEntries,
): RollingInputErrors {
  const inputErrors: RollingInputErrors = {};
  if (entries.name.trim() === "") inputErrors.name = "required";
  if (groupsOf(entries).length === 0) inputErrors.groups = "pools";
  for (const field of ["parallel", "concurrency"] as const) {
    const [least, most] = bounds[field];
    if (!isWithin(entries[field], least, most)) inputErrors[field] = "number";
  }
  return inputErrors;
}

/** The parameter `job` of `job.create` and `job.set`; null removes a property. */
export function toRollingJob(
  entries: RollingEntries,
  before: RollingJob | undefined,
): Readonly<Record<string, Json>> {
  const optional = (key: keyof RollingJob, value: Json | undefined) =>
    changedProperty(before, key, value);
  const number = (key: keyof typeof bounds) =>
    optional(key, enteredNumber(entries[key]));
  return {
    type: "rollingUpdate",
    name: entries.name.trim(),
    groups: groupsOf(entries).map((group) => [...group]),
    ...optional("windows", entries.windows as Json | undefined),
    ...number("parallel"),
    ...number("concurrency"),
    shutdownPinnedVms: entries.shutdownPinnedVms,
    migrateBack: entries.migrateBack,
  };
}
