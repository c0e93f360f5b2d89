import { isObject, type Json } from "@xo-server/kit";
import type { ObjectRow } from "../api/object-row.js";
import { failedItemsOf, type FailedItems } from "./failed-items.js";

export type TaskStatus = "pending" | "success" | "failure" | "interrupted";

/** A task of the server, a subtask, or a XAPI task. Times in ms since the epoch. */
export interface TaskItem {
  readonly id: string;
  /** `ours`: of the server; `pool`: a XAPI task. */
  readonly source: "ours" | "pool";
  readonly status: TaskStatus;
  readonly isCancelled: boolean;
  /** The name of the task, from the server. */
  readonly name: string;
  /** 0 to 1. */
  readonly progress: number;
  readonly start: number;
  readonly end: number | undefined;
  /** The object of the task. */
  readonly object: { readonly type: string; readonly id: string } | undefined;
  readonly userId: string | undefined;
  /** The API method. */
  readonly operation: string | undefined;
  readonly failure: TaskFailure | undefined;
  /** Progress of a bulk operation. */
  readonly counts: TaskCounts | undefined;
  /** Of a bulk operation that has failed for some objects. */
  readonly failedItems: FailedItems | undefined;
  /** Parameters of `bulk.run` that run it again; undefined: it has not failed, or the task does not contain them. */
  readonly retry: Readonly<Record<string, Json>> | undefined;
  readonly notes: readonly string[];
  readonly parts: readonly TaskItem[];
  /** Number of notes and parts that were left out: `task.get` returns them. */
  readonly omitted: number;
  readonly isCancelRequested: boolean;
  readonly isCancellable: boolean;
}

/** The error of the task. */
export interface TaskFailure {
  readonly code?: string;
  readonly message: string;
  readonly data?: Json;
}

interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** Reads a task of `task.list`; undefined: not a task. */
export function toTaskItem(task: Json): TaskItem | undefined {
  if (!isObject(task) || typeof task["id"] !== "string") return undefined;
  const properties = objectAt(task, "properties");
  const { id, start, end, status, progress } = task;
  const { objectId, objectType, userId, operation } = properties;
  return {
    id,
    source: "ours",
    isCancelled: false,
    status: isStatus(status) ? status : "pending",
    name: nameOf(properties),
    progress: numberOf(progress) / 100,
    start: numberOf(start),
    end: typeof end === "number" ? end : undefined,
    object:
      typeof objectId === "string" && objectId !== ""
        ? { type: textOf(objectType), id: objectId }
        : objectOfPart(textOf(properties["name"])),
    userId: typeof userId === "string" ? userId : undefined,
    operation: typeof operation === "string" ? operation : undefined,
    failure: failureOf(task),
    counts: countsOf(task["counts"]),
    failedItems: failedItemsOf(task),
    retry: hasFailed(status) ? retryOf(properties["retry"]) : undefined,
    notes: notesOf(task),
    parts: listAt(task, "tasks").flatMap((part) => toTaskItem(part) ?? []),
    omitted: sumOf(task["omitted"]),
    isCancelRequested: task["abortionRequestedAt"] !== undefined,
    isCancellable: status === "pending",
  };
}

/**
 * Reads a XAPI task, an object of the type `task`.
 * @param vm id of the VM that it works on; undefined: none, or not known
 */
export function poolTaskItem(row: ObjectRow, vm?: string): TaskItem {
  const { id, status, progress, created, finished, result } = row;
  const isCancelled = status === "cancelled";
  const allowed = row["allowedOperations"];
  const host = row["$host"];
  return {
    id,
    source: "pool",
    isCancelled,
    userId: undefined,
    status: poolStatus(textOf(status)),
    name: row.name_label ?? "",
    progress: numberOf(progress),
    start: 1_000 * numberOf(created),
    end: typeof finished === "number" ? 1_000 * finished : undefined,
    object:
      vm === undefined
        ? typeof host === "string"
          ? { type: "host", id: host }
          : undefined
        : { type: "VM", id: vm },
    operation: undefined,
    failure:
      status === "failure" && textOf(result) !== ""
        ? { message: textOf(result) }
        : undefined,
    counts: undefined,
    failedItems: undefined,
    retry: undefined,
    notes: [],
    parts: [],
    omitted: 0,
    isCancelRequested: status === "cancelling",
    isCancellable:
      status === "pending" &&
      Array.isArray(allowed) &&
      allowed.includes("cancel"),
  };
}

/** Estimated remaining time in ms; undefined: too early or ended. */
export function leftOf(
  { status, progress, start }: TaskItem,
  now: number,
): number | undefined {
  const spent = now - start;
  if (status !== "pending" || progress < 0.05 || progress >= 1)
    return undefined;
  return spent < 3_000 ? undefined : (spent * (1 - progress)) / progress;
}

/** The error of the task, else of the subtask that failed. */
export function reasonOf(task: TaskItem): TaskFailure | undefined {
  const part = task.parts.find(({ status }) => status === "failure");
  return task.failure ?? (part === undefined ? undefined : reasonOf(part));
}

/** Removes the origin from `REST API: clean_shutdown VM` and `XAPI: Async.VM.start`. */
export function plainName(name: string): string {
  const [, origin, rest = name] = /^(REST API|XAPI): (.*)/.exec(name) ?? [];
  const texts = rest.replace(/^Async\./, "");
  return origin === "REST API" ? texts.replaceAll("_", " ") : texts;
}

/** The name of the task; of a bulk operation its method. */
function nameOf(properties: Readonly<Record<string, Json>>): string {
  const { method } = objectAt(properties, "params");
  const name = textOf(properties["name"]);
  if (properties["operation"] === "bulk.run" && typeof method === "string")
    return method;
  return PART.exec(name)?.[1] ?? name;
}

/** The name of a subtask of a bulk operation: the method and the id of the object. */
const PART = /^([a-z]+\.\w+) ([0-9a-f]{8}-[0-9a-f-]{27})$/;
const typesByNoun: Readonly<Record<string, string>> = {
  vm: "VM",
  host: "host",
  pool: "pool",
  sr: "SR",
  vdi: "VDI",
  network: "network",
  pif: "PIF",
  message: "message",
};

function objectOfPart(name: string): TaskItem["object"] {
  const [, method = "", id = ""] = PART.exec(name) ?? [];
  const type = typeOf(method);
  return type === undefined ? undefined : { type, id };
}

/** Type of the objects of an operation, by its name. */
export function typeOf(method: string): string | undefined {
  return typesByNoun[method.split(".")[0] ?? ""];
}

function poolStatus(status: string): TaskStatus {
  if (status === "success") return "success";
  if (status === "failure") return "failure";
  return status === "cancelled" ? "interrupted" : "pending";
}

/** A task that was cancelled or interrupted has not done its work either. */
function hasFailed(status: Json | undefined): boolean {
  return status === "failure" || status === "interrupted";
}

function retryOf(value: Json | undefined): TaskItem["retry"] {
  return value !== undefined && isObject(value) ? value : undefined;
}

function isStatus(status: unknown): status is TaskStatus {
  return /^(pending|success|failure|interrupted)$/.test(String(status));
}

function failureOf(
  task: Readonly<Record<string, Json>>,
): TaskFailure | undefined {
  if (task["status"] === "success" || task["status"] === "pending")
    return undefined;
  const result = objectAt(task, "result");
  const code = textOf(result["code"]);
  const message = textOf(result["message"]) || code;
  if (message === "") return undefined;
  const data = result["data"];
  return {
    message,
    ...(code === "" ? {} : { code }),
    ...(data === undefined ? {} : { data }),
  };
}

function notesOf(task: Readonly<Record<string, Json>>): string[] {
  return [...listAt(task, "warnings"), ...listAt(task, "infos")].flatMap(
    (note) =>
      isObject(note) && typeof note["message"] === "string"
        ? [note["message"]]
        : [],
  );
}

function countsOf(counts: Json | undefined): TaskCounts | undefined {
  if (counts === undefined || !isObject(counts)) return undefined;
  const { total, succeeded, failed } = counts;
  return {
    total: numberOf(total),
    succeeded: numberOf(succeeded),
    failed: numberOf(failed),
  };
}

function sumOf(counts: Json | undefined): number {
  if (counts === undefined || !isObject(counts)) return 0;
  return Object.values(counts).reduce<number>(
    (sum, count) => sum + numberOf(count),
    0,
  );
}

function objectAt(
  of: Readonly<Record<string, Json>>,
  name: string,
): Readonly<Record<string, Json>> {
  const value = of[name];
  return value !== undefined && isObject(value) ? value : {};
}

function listAt(
  of: Readonly<Record<string, Json>>,
  name: string,
): readonly Json[] {
  const value = of[name];
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
