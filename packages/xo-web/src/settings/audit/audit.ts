import type { Json } from "@xo-server/kit";

/** A record of the audit log. */
export interface AuditRecord {
  /** Its hash. */
  readonly id: string;
  readonly seq: number;
  readonly time: number;
  /** The operation. */
  readonly event: string;
  readonly subject: {
    readonly userId?: string;
    readonly userName?: string;
    readonly userIp?: string;
  };
  readonly data: {
    readonly objectId?: string;
    readonly parameters?: Json;
    readonly outcome?: string;
    readonly errorCode?: string;
    readonly taskId?: string;
  };
}

export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Cursor of the next page; absent: this is the last page. */
  readonly before?: number;
}

/** Filter of the audit log. Dates as in `datetime-local` fields, such as `2026-11-21T19:00`; empty: any. */
export interface AuditFilter {
  readonly userId: string;
  readonly operation: string;
  readonly objectId: string;
  readonly from: string;
  readonly to: string;
  readonly onlyFailed: boolean;
}

/** The parameters of `audit.getRecords`. An operation that ends with `.` or `*` is a prefix. */
export function toRequest(
  filter: AuditFilter,
  before: number | undefined,
  limit: number,
): Readonly<Record<string, Json>> {
  const operation = filter.operation.trim();
  const isExact = /^[a-z]+\.[a-z]+$/i.test(operation);
  const terms = [
    ...(operation === "" || isExact
      ? []
      : [`event:${quoted(operation.replace(/\*$/, ""))}`]),
    ...timeTerm(">=", filter.from),
    ...timeTerm("<=", filter.to),
    ...(filter.onlyFailed ? ["!data:outcome:success"] : []),
  ];
  return {
    limit,
    ...(before === undefined ? {} : { before }),
    ...(filter.userId === "" ? {} : { userId: filter.userId }),
    ...(isExact ? { operation } : {}),
    ...(filter.objectId.trim() === ""
      ? {}
      : { objectId: filter.objectId.trim() }),
    ...(terms.length === 0 ? {} : { filter: terms.join(" ") }),
  };
}

function timeTerm(comparison: string, date: string): string[] {
  const time = Date.parse(date);
  return Number.isNaN(time) ? [] : [`time:${comparison}${time}`];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A target to which the audit log is forwarded. */
export interface ForwardStatus {
  readonly name: string;
  readonly address: string;
  readonly state: "starting" | "current" | "behind" | "failing" | "elsewhere";
  /** Number of entries that were not forwarded. */
  readonly pending: number;
  /** Age of the oldest of them, in ms. */
  readonly lagMs: number;
  /** Ms since the epoch. */
  readonly lastSentAt?: number;
  readonly error?: string;
}
