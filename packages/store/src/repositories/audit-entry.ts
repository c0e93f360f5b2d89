import { createHash } from "node:crypto";
import { limits } from "../schema/limits.js";
import type { AuditRow } from "../schema/audit-tables.js";

/** User, operation, address and result. The caller has removed secrets. */
export interface AuditEntry {
  readonly userId?: string;
  readonly userName?: string;
  readonly address?: string;
  readonly operation: string;
  readonly objectId?: string;
  /** JSON; left out if larger than 16 KiB. */
  readonly parameters?: unknown;
  /** `unknown`: the server ended during the change. */
  readonly outcome: "success" | "failure" | "unknown";
  readonly errorCode?: string;
  readonly taskId?: string;
}

/** A stored entry. */
export interface AuditRecord extends AuditEntry {
  /** 1, 2, 3 ... without gaps. */
  readonly seq: number;
  readonly time: number;
  readonly hash: string;
}

/** Previous hash of the first row. */
export const GENESIS = "0".repeat(64);

/** Replaces characters that cannot be stored and truncates long texts: the audit log rejects no entry. */
export function toAuditRow(
  entry: AuditEntry,
  position: { seq: number; time: number; previous: string },
): AuditRow {
  const row = {
    ...position,
    user_id: storable(entry.userId),
    user_name: storable(entry.userName),
    address: storable(entry.address),
    operation: storable(entry.operation) ?? "",
    object_id: storable(entry.objectId),
    parameters_json: parametersOf(entry),
    outcome: entry.outcome,
    error_code: storable(entry.errorCode),
    task_id: storable(entry.taskId),
  };
  return { ...row, hash: hashOf(row) };
}

/** An entry as readers get it. Does not check the hash chain. */
export function toAuditRecord(row: AuditRow): AuditRecord {
  return {
    seq: row.seq,
    time: row.time,
    hash: row.hash,
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    ...(row.user_name === null ? {} : { userName: row.user_name }),
    ...(row.address === null ? {} : { address: row.address }),
    operation: row.operation,
    ...(row.object_id === null ? {} : { objectId: row.object_id }),
    parameters: JSON.parse(row.parameters_json) as unknown,
    outcome: toOutcome(row.outcome),
    ...(row.error_code === null ? {} : { errorCode: row.error_code }),
    ...(row.task_id === null ? {} : { taskId: row.task_id }),
  };
}

function toOutcome(text: string): AuditEntry["outcome"] {
  return text === "success" || text === "unknown" ? text : "failure";
}

/** SHA-256 of the previous hash and the columns of the row in this order. */
export function hashOf(row: Omit<AuditRow, "hash">): string {
  const content = JSON.stringify([
    row.seq,
    row.time,
    row.user_id,
    row.user_name,
    row.address,
    row.operation,
    row.object_id,
    row.parameters_json,
    row.outcome,
    row.error_code,
    row.task_id,
  ]);
  return createHash("sha256")
    .update(`${row.previous}\n${content}`)
    .digest("hex");
}

function storable(text: string | undefined): string | null {
  if (text === undefined) return null;
  return text
    .slice(0, limits.textBytes)
    .replace(/\0|\p{Surrogate}/gu, "\ufffd");
}

function parametersOf({ parameters = {} }: AuditEntry): string {
  const text = JSON.stringify(parameters);
  const bytes = Buffer.byteLength(text);
  return bytes <= limits.auditParametersBytes
    ? text
    : JSON.stringify({ leftOut: `${bytes} bytes` });
}
