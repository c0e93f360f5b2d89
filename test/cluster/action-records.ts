import type { PostgresCluster } from "@xo-server/store/conformance";

/** An entry of the audit log, as the database has it. */
interface AuditEntry {
  readonly operation: string;
  readonly object: string | null;
  readonly task: string | null;
  readonly outcome: "success" | "failure" | "unknown";
  readonly code: string | null;
}

/** What the database says about the actions of all servers. */
interface ActionRecords {
  readonly entries: readonly AuditEntry[];
  /** Operations of changes that have begun, and have no entry yet. */
  readonly unfinished: readonly string[];
  /** Names of tasks, and ids of runs of jobs, that have not ended. */
  readonly pending: readonly string[];
}

/** An action on one object, which no other request has changed. */
interface RecordedAction {
  /** Id of the object. */
  readonly id: string;
  /** Number of times that the pool has received its call. */
  readonly issued: number;
}

/** A request that a server has accepted. */
interface AcceptedRequest {
  /** What it has requested, for reports. */
  readonly path: string;
  /** Absent: it was a run of a job. */
  readonly taskId?: string;
}

/** Codes of failures that claim that nothing was sent to the pool. */
const NOT_SENT: ReadonlySet<string | null> = new Set([
  "CALL_NOT_SENT",
  "NOT_CONNECTED",
  "STORE_UNAVAILABLE",
  "LEASE_LOST",
]);

/** @param postgres cluster with the database `xo` of the servers */
export async function readActionRecords(
  postgres: PostgresCluster,
): Promise<ActionRecords> {
  const query = async <T>(sql: string) =>
    (await postgres.query("xo", sql)) as T[];
  const entries = await query<AuditEntry>(
    "select operation, object_id as object, task_id as task, outcome, error_code as code from audit order by seq",
  );
  const unfinished = await query<{ operation: string }>(
    "select entry_json::json->>'operation' as operation from audit_pending",
  );
  const pending = await query<{ name: string }>(
    "select name from tasks where status = 'pending' union all select id from job_runs where status in ('pending', 'queued')",
  );
  return {
    entries,
    unfinished: unfinished.map(({ operation }) => operation),
    pending: pending.map(({ name }) => name),
  };
}

/**
 * Compares the audit log and the tasks with what clients know and with what pools have received.
 * @returns violations of the guarantees
 */
export function compareRecords(
  { entries, unfinished, pending }: ActionRecords,
  requests: readonly AcceptedRequest[],
  actions: readonly RecordedAction[],
): readonly string[] {
  const tasks = new Set(entries.map(({ task }) => task));
  const entriesOf = (id: string) =>
    entries.filter(({ object }) => object === id);
  return [
    ...unfinished.map((name) => `${name}: begun, without an entry`),
    ...pending.map((name) => `${name}: not ended`),
    ...requests.flatMap(({ path, taskId }) =>
      taskId === undefined || tasks.has(taskId)
        ? []
        : `${path}: no entry names its task ${taskId}`,
    ),
    ...entries.flatMap(({ operation, outcome, task }) =>
      operation === "bulk.run" && outcome === "unknown" && task === null
        ? `${operation}: an interrupted entry names no task`
        : [],
    ),
    ...actions.flatMap(
      (action) => problemOf(action, entriesOf(action.id)) ?? [],
    ),
  ];
}

function problemOf(
  { id, issued }: RecordedAction,
  entries: readonly AuditEntry[],
): string | undefined {
  const outcomes = entries.map(
    ({ operation, outcome, code, task }) =>
      `${operation} ${outcome} ${code ?? ""} of ${task}`,
  );
  const about = `${id}: received ${issued} times, entries: ${outcomes.join(", ") || "none"}`;
  const successes = entries.filter(({ outcome }) => outcome === "success");
  // A server that continues a task whose last step is not in the database records its outcome once more.
  const tasks = new Set(successes.map(({ task }) => task?.split(".")[0]));
  if (issued > 1 || tasks.size > 1) return about;
  if (issued === 0) return successes.length > 0 ? about : undefined;
  return entries.some(({ code }) => !NOT_SENT.has(code)) ? undefined : about;
}
