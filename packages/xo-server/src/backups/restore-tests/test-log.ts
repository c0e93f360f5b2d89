import type { EntryStatus } from "../report/backup-log.js";
import type { RestoreTestReport } from "./restore-test.js";

/** The test of a VM in a run. Times in ms since the epoch. */
export interface TestLogEntry {
  readonly vm: string;
  readonly name: string;
  readonly status: EntryStatus;
  readonly start: number;
  readonly end: number;
  /** Why the VM was skipped. */
  readonly reason?: string;
  readonly test?: TestLogDetails;
  readonly error?: object;
}

interface TestLogDetails extends Pick<
  RestoreTestReport,
  "method" | "bootMs" | "hasScreenshot"
> {
  /** Id of the archive. */
  readonly archive: string;
  /** Name of the repository. */
  readonly repository: string;
  /** When the backup was taken, in ms since the epoch. */
  readonly time: number;
}

/** The stored result of a run of restore tests. */
export interface TestRunBody {
  readonly vms: readonly TestLogEntry[];
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  /** Number of VMs that are left out because of the limit of the log. */
  readonly shortened?: number;
  readonly notBegun?: number;
  readonly error?: object;
}

/** Maximum size of all entries together, in bytes. */
const MAX_LENGTH = 180_000;

/** The log of a run: failures first, as many as fit. */
export function toTestRunBody(
  entries: readonly TestLogEntry[],
  more: Pick<TestRunBody, "notBegun" | "error"> = {},
): TestRunBody {
  const count = (...statuses: EntryStatus[]) =>
    entries.filter(({ status }) => statuses.includes(status)).length;
  let room = MAX_LENGTH;
  const vms = entries
    .toSorted((a, b) => rank(a) - rank(b) || a.start - b.start)
    .filter((entry) => {
      room -= Buffer.byteLength(JSON.stringify(entry));
      return room >= 0;
    });
  const shortened = entries.length - vms.length;
  return {
    vms,
    succeeded: count("success"),
    failed: count("failure", "aborted"),
    skipped: count("skipped"),
    ...(shortened === 0 ? {} : { shortened }),
    ...more,
  };
}

function rank({ status }: TestLogEntry): number {
  return ["failure", "aborted", "success", "skipped"].indexOf(status);
}
