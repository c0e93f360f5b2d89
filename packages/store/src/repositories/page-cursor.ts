import { XoError } from "@xo-server/model";
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from "kysely";
import { checkText } from "../schema/limits.js";
import type { Tables } from "../schema/tables.js";

/** Where a page ended, of what is listed by when it began, the newest first. */
export interface PageCursor {
  readonly time: number;
  readonly id: string;
}

/** Tables that have both columns. */
type Dated = "job_runs" | "balancer_runs";
type Builder = ExpressionBuilder<Tables, Dated>;
type Condition = (e: Builder) => ExpressionWrapper<Tables, Dated, SqlBool>;

/**
 * What comes after that page.
 * @param cursor its text is `time/id`
 * @throws XoError INVALID_PARAMETERS
 */
export function whereOlder(cursor: PageCursor | string): Condition;
export function whereOlder(cursor: string | undefined): Condition | undefined;
export function whereOlder(
  cursor: PageCursor | string | undefined,
): Condition | undefined {
  if (cursor === undefined) return undefined;
  const { time, id } =
    typeof cursor === "string" ? parseCursor(cursor) : cursor;
  return (e) =>
    e.or([
      e("started_at", "<", time),
      e.and([e("started_at", "=", time), e("id", "<", id)]),
    ]);
}

function parseCursor(cursor: string): PageCursor {
  const match = /^(\d{1,15})\/(.+)$/s.exec(cursor);
  if (match === null)
    throw new XoError("INVALID_PARAMETERS", { reason: "no such cursor" });
  return { time: Number(match[1]), id: checkText("the cursor", match[2]!) };
}
