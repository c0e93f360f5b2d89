import { XapiError, XoError } from "@xo-server/model";
import type { Task } from "@xo-server/store";
import type { TaskCounts } from "./task-context.js";

/** A task in the shape of Xen Orchestra's REST API; times in ms since the epoch. */
export type TaskView = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly status: Task["status"];
  readonly start?: number;
  readonly updatedAt?: number;
  readonly end?: number;
  readonly properties?: object;
  /** Whole percent. */
  readonly progress?: number;
  readonly counts?: TaskCounts;
  readonly infos?: readonly TaskNote[];
  readonly warnings?: readonly TaskNote[];
  readonly tasks?: readonly TaskView[];
  readonly abortionRequestedAt?: number;
  readonly result?: object;
  /** In a summary: the number of omitted subtasks, infos and warnings. */
  readonly omitted?: Readonly<Record<"tasks" | "infos" | "warnings", number>>;
};

export interface TaskNote {
  readonly message: string;
  readonly data?: object;
}

/** Maximum length of a parameter in a summary, in characters. */
const MAX_SUMMARIZED = 256;

/**
 * A task without its subtasks, notes and long parameters: a bulk operation has hundreds of
 * them, and they would be sent again with each of its changes.
 */
export function toSummary(task: TaskView): TaskView {
  const { tasks = [], infos = [], warnings = [], properties, ...rest } = task;
  return {
    ...rest,
    ...(properties === undefined
      ? {}
      : { properties: withShortParameters(properties) }),
    omitted: {
      tasks: tasks.length,
      infos: infos.length,
      warnings: warnings.length,
    },
  };
}

function withShortParameters(properties: object): object {
  const { params, ...rest } = properties as { readonly params?: object };
  if (params === undefined) return properties;
  const short = Object.entries(params).filter(
    ([, value]) =>
      (typeof value === "string" && value.length <= MAX_SUMMARIZED) ||
      typeof value === "number" ||
      typeof value === "boolean",
  );
  return { ...rest, params: Object.fromEntries(short) };
}

/** The part of a persisted task that is not in columns of its row. */
type TaskBody = Readonly<Record<string, unknown>>;

/** A task as clients see it, without the persisted state of its operation. */
export function toView(task: Task): TaskView {
  const { id, status, startedAt, updatedAt, endedAt } = task;
  // The persisted state of an operation is internal.
  const { kept, ...body } = task.body as TaskBody & { kept?: unknown };
  void kept;
  return {
    id,
    status,
    start: startedAt,
    updatedAt,
    ...(endedAt === undefined ? {} : { end: endedAt }),
    ...body,
  };
}

/** Maximum length of a stored result, or of stored parameters, in characters. */
const MAX_CHARACTERS = 32_768;

/** The result for clients: absent, or an object. */
export function toResult(result: unknown): object | undefined {
  if (typeof result === "string") return { id: result };
  if (typeof result !== "object" || result === null) return undefined;
  // Clients can only decode an object here.
  return Array.isArray(result) ? undefined : bounded(result);
}

/** The value itself, unless it is too large to store. */
export function bounded(value: object): object {
  const { length } = JSON.stringify(value);
  return length <= MAX_CHARACTERS ? value : { leftOut: `${length} characters` };
}

/** Maximum length of a name or of a note, in characters; a row may have 1,024 bytes of a name. */
const MAX_NAME = 256;
const MAX_NOTE = 1_000;

/**
 * A name that can be stored: it has names of objects of pools, or of files, which may have any
 * length, and characters that UTF-8 or PostgreSQL does not accept.
 */
export function toName(text: string): string {
  return toStorable(text, MAX_NAME);
}

/** The text of a note, which can be stored. */
export function toNote(text: string): string {
  return toStorable(text, MAX_NOTE);
}

function toStorable(text: string, length: number): string {
  const short = text.length <= length ? text : `${text.slice(0, length - 1)}…`;
  return short.replace(/\0|\p{Surrogate}/gu, "\ufffd");
}

/**
 * Maximum length of an error's message, and of each parameter, in characters:
 * XAPI's may contain whole stack traces, and a task has many parts.
 */
const MAX_MESSAGE = 1_000;
const MAX_PARAMETER = 500;

function shortened(params: readonly string[]): readonly string[] {
  return params.map((param) => param.slice(0, MAX_PARAMETER));
}

/** The result of a failed task as clients see it. */
export function toFailure(error: Error): object {
  const isKnown = error instanceof XapiError || error instanceof XoError;
  return {
    // Messages of unexpected errors may contain internals, so clients do not see them.
    message: isKnown ? error.message.slice(0, MAX_MESSAGE) : "internal error",
    name: error.name,
    ...(isKnown ? { code: error.code } : {}),
    ...(error instanceof XapiError ? { params: shortened(error.params) } : {}),
    ...(error instanceof XoError ? ofMany(error) : {}),
    // Error data contains no secrets, see ErrorData.
    ...(error instanceof XoError ? { data: bounded(error.data) } : {}),
  };
}

/** The results of a bulk operation for each object. */
function ofMany({ data }: XoError): object {
  const { result } = data as { readonly result?: unknown };
  return typeof result === "object" && result !== null ? bounded(result) : {};
}
