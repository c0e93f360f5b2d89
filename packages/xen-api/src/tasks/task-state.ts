import {
  EventOperation,
  parseLenient,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  XapiError,
  type RecordBatch,
} from "@xo-server/model";

/** The fields of a task record that describe its progress. */
export interface TaskState {
  readonly status: string;
  readonly progress: number;
  /** XML of an XML-RPC value, also on JSON-RPC (WIRE.md 9). */
  readonly result: string;
  readonly errorInfo: readonly string[];
}

/** State of a task record; missing fields get defaults. */
export function toTaskState(record: unknown): TaskState {
  const fields = (
    typeof record === "object" && record !== null ? record : {}
  ) as Record<string, unknown>;
  const { status, progress, result, error_info: errorInfo } = fields;
  return {
    status: typeof status === "string" ? status : "pending",
    progress: typeof progress === "number" ? progress : 0,
    result: typeof result === "string" ? result : "",
    errorInfo: Array.isArray(errorInfo) ? errorInfo.map(String) : [],
  };
}

/** XAPI writes the status last: with a final status the other fields are complete. */
export function isFinal({ status }: TaskState): boolean {
  return status === "success" || status === "failure" || status === "cancelled";
}

/** The error of a failed or cancelled task. */
export function taskError(
  { status, errorInfo }: TaskState,
  task: string,
  method: string,
): XapiError {
  const [code, ...params] = errorInfo;
  if (code === undefined)
    return status === "cancelled"
      ? new XapiError("TASK_CANCELLED", [task], method)
      : new XapiError(
          "INTERNAL_ERROR",
          ["the task failed without error_info"],
          method,
        );
  return unwrap(code, params, method);
}

/**
 * HTTP handlers report every failure as a denied permission; the real error is
 * in the second parameter: `RBAC_PERMISSION_DENIED, http/get_export, UUID_INVALID: [ VM; 0000 ]` (WIRE.md 11).
 */
function unwrap(
  code: string,
  params: readonly string[],
  method: string,
): XapiError {
  const inner =
    code === "RBAC_PERMISSION_DENIED"
      ? /^([A-Z][A-Z0-9_]+): \[ (.*) \]$/s.exec(params[1] ?? "")
      : null;
  return inner === null
    ? new XapiError(code, params, method)
    : new XapiError(inner[1]!, inner[2]!.split("; "), method);
}

/** The other_config of a task record. */
export function toTaskMarks(record: unknown): Readonly<Record<string, string>> {
  const { other_config: config } = (record ?? {}) as {
    readonly other_config?: Readonly<Record<string, string>> | null;
  };
  return config ?? {};
}

/** A task in a batch of events. `state` undefined: deleted. */
export interface ReportedTask {
  readonly ref: string;
  readonly state: TaskState | undefined;
  readonly marks: Readonly<Record<string, string>>;
}

/** The tasks in a batch of events. */
export function tasksIn(batch: RecordBatch): readonly ReportedTask[] {
  const task = batch.classes.indexOf("task");
  const found: ReportedTask[] = [];
  if (task === -1) return found;
  const text = (offset: number, length: number) =>
    Buffer.from(batch.buffer, offset, length).toString();
  for (let at = 0; at < batch.count * RECORD_STRIDE; at += RECORD_STRIDE) {
    const row = batch.table.subarray(at, at + RECORD_STRIDE);
    if (row[RecordField.classIndex] !== task) continue;
    const ref = text(row[RecordField.refOffset]!, row[RecordField.refLength]!);
    const json = text(row[RecordField.offset]!, row[RecordField.length]!);
    if (row[RecordField.operation] === EventOperation.del || json === "") {
      found.push({ ref, state: undefined, marks: {} });
      continue;
    }
    const isLenient = (row[RecordField.flags]! & RecordFlag.lenient) !== 0;
    const record: unknown = isLenient ? parseLenient(json) : JSON.parse(json);
    const [state, marks] = [toTaskState(record), toTaskMarks(record)];
    found.push({ ref, state, marks });
  }
  return found;
}
