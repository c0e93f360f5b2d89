import { XoError } from "@xo-server/model";
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from "kysely";
import { checkText } from "../schema/limits.js";
import type { Tables } from "../schema/tables.js";

/** End of a page in a list ordered by start time, newest first. */
export interface PageCursor {
  readonly time: number;
  readonly id: string;
}

/** Tables with the columns `started_at` and `id`. */
type Dated = "job_runs" | "balancer_runs";
type Builder = ExpressionBuilder<Tables, Dated>;
type Condition = (e: Builder) => ExpressionWrapper<Tables, Dated, SqlBool>;

/**
 * Condition for the rows after that page.
 * @param cursor as text: `time/id`
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
    throw new XoError("INVALID_PARAMETERS", { reason: "invalid cursor" });
  return { time: Number(match[1]), id: checkText("the cursor", match[2]!) };
}
