import type { LoggedCall } from "./call-log.js";

/** Members of the bodies of all types of jobs that describe failures. */
interface LoggedFailures {
  readonly calls?: readonly Pick<LoggedCall, "method" | "error">[];
  readonly vms?: readonly FailedEntry[];
  readonly items?: readonly FailedEntry[];
}

interface FailedEntry {
  readonly name: string;
  readonly status: string;
  readonly reason?: string;
  readonly error?: object;
  readonly repositories?: readonly FailedEntry[];
}

/** Reasons that a message names, and objects of each. */
const MAX_REASONS = 3;
const MAX_NAMES = 3;
/** Maximum length of one reason in characters: the message of a task is cut at 1,000. */
const MAX_LENGTH = 200;

/**
 * Why calls, VMs or other items of a run have failed, for the message of its
 * task: `web-1, web-2: nightly: the repository is full`, where `nightly` is the
 * repository. Equal reasons are named once.
 * @returns an empty string if the log has no failures
 */
export function failureReasons(body: object): string {
  const namesByReason = new Map<string, Set<string>>();
  for (const [name, reason] of failuresOf(body)) {
    const names = namesByReason.get(reason) ?? new Set();
    namesByReason.set(reason, names.add(name));
  }
  const reasons = [...namesByReason].map(
    ([reason, names]) => `${firstOf([...names], MAX_NAMES, ", ")}: ${reason}`,
  );
  return firstOf(reasons, MAX_REASONS, "; ");
}

function failuresOf({
  calls = [],
  vms = [],
  items = [],
}: LoggedFailures): (readonly [name: string, reason: string])[] {
  return [
    ...calls.flatMap(({ method, error }) =>
      error === undefined ? [] : [[method, messageOf(error)] as const],
    ),
    ...[...vms, ...items].filter(isFailed).flatMap((entry) => {
      const failed = (entry.repositories ?? []).filter(isFailed);
      if (failed.length === 0)
        return [[entry.name, messageOf(entry.error, entry.reason)] as const];
      return failed.map(
        ({ name, error }) =>
          [entry.name, `${name}: ${messageOf(error)}`] as const,
      );
    }),
  ];
}

function isFailed({ status }: Pick<FailedEntry, "status">): boolean {
  return status === "failure" || status === "aborted";
}

function messageOf(error: object | undefined, reason = "unknown"): string {
  const { message }: { message?: unknown } = error ?? {};
  const text = typeof message === "string" ? message : reason;
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

function firstOf(texts: readonly string[], max: number, separator: string) {
  const left = texts.length - max;
  return [
    ...texts.slice(0, max),
    ...(left > 0 ? [`and ${left} more`] : []),
  ].join(separator);
}
