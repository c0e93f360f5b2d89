import type { AuditRow } from "../schema/audit-tables.js";
import { hashOf } from "./audit-entry.js";
import type { AuditEnd } from "./audit-ends.js";
import type { RepositoryContext } from "./repository-context.js";

export type AuditVerdict =
  | {
      readonly intact: true;
      readonly checked: number;
      /** Number of pruned rows; absent: none. */
      readonly pruned?: number;
    }
  | {
      readonly intact: false;
      /** Number of valid rows before. */
      readonly checked: number;
      /** The first invalid row and the reason. */
      readonly broken: { readonly seq: number; readonly reason: string };
    };

const PAGE_ROWS = 250;

/** One verified page. */
interface WalkedPage {
  readonly rows: readonly AuditRow[];
  /** The first invalid row. */
  readonly flaw?: { readonly seq: number; readonly reason: string };
}

/** The rows after `start` up to `last`, page by page, each verified against the previous one. Ends after the first invalid row. */
export async function* walkAudit(
  { engine, availability }: RepositoryContext,
  start: Pick<AuditEnd, "seq" | "hash">,
  last: number,
): AsyncGenerator<WalkedPage, void, void> {
  let { seq, hash: previous } = start;
  for (;;) {
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("audit")
        .selectAll()
        .where("seq", ">", seq)
        .where("seq", "<=", last)
        .orderBy("seq")
        .limit(PAGE_ROWS)
        .execute(),
    );
    for (const [i, row] of rows.entries()) {
      const reason = findFlaw(row, seq + 1, previous);
      if (reason !== undefined) {
        yield { rows: rows.slice(0, i), flaw: { seq: seq + 1, reason } };
        return;
      }
      seq = row.seq;
      previous = row.hash;
    }
    yield { rows };
    if (rows.length < PAGE_ROWS) return;
  }
}

function findFlaw(
  row: AuditRow,
  seq: number,
  previous: string,
): string | undefined {
  if (row.seq !== seq) return "it is missing";
  if (row.previous !== previous) return "it does not follow the row before";
  if (row.hash !== hashOf(row)) return "it was changed";
  return undefined;
}
