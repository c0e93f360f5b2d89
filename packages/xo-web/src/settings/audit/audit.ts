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
  /** For the next page; absent: there is none. */
  readonly before?: number;
}

/** What is looked for. Dates as fields of forms have them: `2026-11-21T19:00`, empty: any. */
export interface AuditWish {
  readonly userId: string;
  readonly operation: string;
  readonly objectId: string;
  readonly from: string;
  readonly to: string;
  readonly onlyFailed: boolean;
}

/** The parameters of `audit.getRecords`. An operation that ends in `.` or has a `*` is any that begins so. */
export function toRequest(
  wish: AuditWish,
  before: number | undefined,
  limit: number,
): Readonly<Record<string, Json>> {
  const operation = wish.operation.trim();
  const isExact = /^[a-z]+\.[a-z]+$/i.test(operation);
  const terms = [
    ...(operation === "" || isExact
      ? []
      : [`event:${quoted(operation.replace(/\*$/, ""))}`]),
    ...timeTerm(">=", wish.from),
    ...timeTerm("<=", wish.to),
    ...(wish.onlyFailed ? ["!data:outcome:success"] : []),
  ];
  return {
    limit,
    ...(before === undefined ? {} : { before }),
    ...(wish.userId === "" ? {} : { userId: wish.userId }),
    ...(isExact ? { operation } : {}),
    ...(wish.objectId.trim() === "" ? {} : { objectId: wish.objectId.trim() }),
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
