import {
  changedProperty,
  enteredNumber,
} from "../../forms/changed-property.js";
import type { Json } from "@xo-server/kit";
import type { RestoreTestJob } from "../job.js";
import {
  isWithin,
  toTags,
  toVmEntries,
  vmInputErrorsOf,
  type BackupJobInputError,
  type VmEntries,
} from "../jobs/job-entries.js";

/** Values of the form fields of a job of restore tests, as typed. */
interface TestEntries extends VmEntries {
  name: string;
  /** Of the SR. */
  pool: string;
  sr: string;
  network: "closed" | "none";
  /** Empty: all. */
  repositories: readonly string[];
  maxVms: string;
  /** Minutes. */
  bootTimeout: string;
}

type TestInputErrors = Partial<
  Record<keyof TestEntries, BackupJobInputError | "sr">
>;

const MINUTE_MS = 60_000;
const BOOT_MINUTES = 10;

/** @param pool of the SR of the job */
export function toTestEntries(
  job: RestoreTestJob | undefined,
  pool: string | undefined,
): TestEntries {
  const { bootTimeout } = job ?? {};
  return {
    name: job?.name ?? "",
    ...toVmEntries(job),
    pool: pool ?? "",
    sr: job?.sr ?? "",
    network: job?.network ?? "closed",
    repositories: job?.repositories ?? [],
    maxVms: job?.maxVms === undefined ? "" : String(job.maxVms),
    bootTimeout:
      bootTimeout === undefined
        ? String(BOOT_MINUTES)
        : String(bootTimeout / MINUTE_MS),
  };
}

/** What is wrong in the form, by field; empty: it can be sent. */
export function testInputErrorsOf(entries: TestEntries): TestInputErrors {
  const inputErrors: TestInputErrors = { ...vmInputErrorsOf(entries) };
  if (entries.name.trim() === "") inputErrors.name = "required";
  if (entries.sr === "") inputErrors.sr = "sr";
  if (!isWithin(entries.maxVms, 1, 10_000)) inputErrors.maxVms = "number";
  const minutes = entries.bootTimeout.trim();
  if (minutes === "" || !isWithin(minutes, 1, 1_440))
    inputErrors.bootTimeout = "number";
  return inputErrors;
}

/** The parameter `job` of `job.create` and `job.set`; null removes a property. */
export function toTestJob(
  entries: TestEntries,
  before: RestoreTestJob | undefined,
): Readonly<Record<string, Json>> {
  const optional = (key: keyof RestoreTestJob, value: Json | undefined) =>
    changedProperty(before, key, value);
  const { selection, vms, filter, repositories, maxVms } = entries;
  const filters = { all: "", filter: filter.trim() } as Readonly<
    Record<string, string>
  >;
  return {
    type: "restore-test",
    name: entries.name.trim(),
    // An empty filter matches all VMs.
    ...optional("filter", filters[selection]),
    ...optional("vms", selection === "vms" ? [...vms] : undefined),
    excludedTags: [...toTags(entries.excludedTags)],
    ...optional(
      "repositories",
      repositories.length === 0 ? undefined : [...repositories],
    ),
    sr: entries.sr,
    network: entries.network,
    ...optional("maxVms", enteredNumber(maxVms)),
    bootTimeout: Number(entries.bootTimeout) * MINUTE_MS,
  };
}
