import { isObject, type Json } from "@xo-server/kit";
import type { ObjectRow } from "../api/object-row.js";

export type TaskStatus = "pending" | "success" | "failure" | "interrupted";

/** Something that is or was being done: one of ours, a part of one, or a task of a pool. Times in ms. */
export interface TaskItem {
  readonly id: string;
  /** `pool`: XAPI's own. */
  readonly source: "ours" | "pool";
  readonly status: TaskStatus;
  readonly isCancelled: boolean;
  /** What is done, as the server calls it. */
  readonly name: string;
  /** 0 to 1. */
  readonly progress: number;
  readonly start: number;
  readonly end: number | undefined;
  /** What it is done to. */
  readonly object: { readonly type: string; readonly id: string } | undefined;
  readonly userId: string | undefined;
  /** The declared operation that it is. */
  readonly operation: string | undefined;
  readonly failure: TaskFailure | undefined;
  /** Of many: how many have ended, and how. */
  readonly counts: TaskCounts | undefined;
  readonly notes: readonly string[];
  readonly parts: readonly TaskItem[];
  readonly isCancelAsked: boolean;
  readonly isCancellable: boolean;
}

/** The server's words, of what went wrong. */
export interface TaskFailure {
  readonly code?: string;
  readonly message: string;
}

export interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** One of ours, as `task.list` has it; undefined: it is none. */
export function toTaskItem(told: Json): TaskItem | undefined {
  if (!isObject(told) || typeof told["id"] !== "string") return undefined;
  const properties = objectAt(told, "properties");
  const { id, start, end, status, progress } = told;
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
    failure: failureOf(told),
    counts: countsOf(told["counts"]),
    notes: notesOf(told),
    parts: listAt(told, "tasks").flatMap((part) => toTaskItem(part) ?? []),
    isCancelAsked: told["abortionRequestedAt"] !== undefined,
    isCancellable: status === "pending",
  };
}

/** A task of a pool, as an object of the type `task`. */
export function poolTaskItem(row: ObjectRow): TaskItem {
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
    object: typeof host === "string" ? { type: "host", id: host } : undefined,
    operation: undefined,
    failure:
      status === "failure" && textOf(result) !== ""
        ? { message: textOf(result) }
        : undefined,
    counts: undefined,
    notes: [],
    parts: [],
    isCancelAsked: status === "cancelling",
    isCancellable:
      status === "pending" &&
      Array.isArray(allowed) &&
      allowed.includes("cancel"),
  };
}

/** Milliseconds that are left, where that can be said. */
export function leftOf(
  { status, progress, start }: TaskItem,
  now: number,
): number | undefined {
  const spent = now - start;
  if (status !== "pending" || progress < 0.05 || progress >= 1)
    return undefined;
  return spent < 3_000 ? undefined : (spent * (1 - progress)) / progress;
}

/** The words that say best what has gone wrong in it: of the part that failed. */
export function reasonOf(task: TaskItem): TaskFailure | undefined {
  const part = task.parts.find(({ status }) => status === "failure");
  return task.failure ?? (part === undefined ? undefined : reasonOf(part));
}

/** `REST API: clean_shutdown VM` and `XAPI: Async.VM.start` without where it came from. */
export function plainName(name: string): string {
  const [, door, rest = name] = /^(REST API|XAPI): (.*)/.exec(name) ?? [];
  const words = rest.replace(/^Async\./, "");
  return door === "REST API" ? words.replaceAll("_", " ") : words;
}

/** Of what is done to many: what that is. */
function nameOf(properties: Readonly<Record<string, Json>>): string {
  const { method } = objectAt(properties, "params");
  const name = textOf(properties["name"]);
  if (properties["operation"] === "bulk.run" && typeof method === "string")
    return method;
  return PART.exec(name)?.[1] ?? name;
}

/** A part of what is done to many: `vm.start`, and the object's id. */
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
  const type = typesByNoun[method.split(".")[0] ?? ""];
  return type === undefined ? undefined : { type, id };
}

function poolStatus(status: string): TaskStatus {
  if (status === "success") return "success";
  if (status === "failure") return "failure";
  return status === "cancelled" ? "interrupted" : "pending";
}

function isStatus(status: unknown): status is TaskStatus {
  return /^(pending|success|failure|interrupted)$/.test(String(status));
}

function failureOf(
  told: Readonly<Record<string, Json>>,
): TaskFailure | undefined {
  if (told["status"] === "success" || told["status"] === "pending")
    return undefined;
  const result = objectAt(told, "result");
  const code = textOf(result["code"]);
  const message = textOf(result["message"]) || code;
  if (message === "") return undefined;
  return code === "" ? { message } : { code, message };
}

function notesOf(told: Readonly<Record<string, Json>>): string[] {
  return [...listAt(told, "warnings"), ...listAt(told, "infos")].flatMap(
    (note) =>
      isObject(note) && typeof note["message"] === "string"
        ? [note["message"]]
        : [],
  );
}

function countsOf(told: Json | undefined): TaskCounts | undefined {
  if (told === undefined || !isObject(told)) return undefined;
  const { total, succeeded, failed } = told;
  return {
    total: numberOf(total),
    succeeded: numberOf(succeeded),
    failed: numberOf(failed),
  };
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
