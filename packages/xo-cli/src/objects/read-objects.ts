import { RequestError } from "../cli-error.js";
import type { Rpc } from "../server/rpc.js";
import { valueAt, type Row } from "./path.js";

export interface SortKey {
  readonly by: string;
  readonly descending?: boolean;
}

/** A query for objects. */
export interface ObjectQuery {
  /** undefined: all types. */
  readonly type: string | undefined;
  /** Filter expression, such as `power_state:running tags:(a b)`. */
  readonly filter: string | undefined;
  readonly sort: readonly SortKey[];
  readonly limit: number | undefined;
  /** Top-level members; undefined: whole objects. */
  readonly fields: readonly string[] | undefined;
}

const PAGE_ROWS = 1000;

interface Page {
  readonly rows: readonly Row[];
  readonly next?: string;
  /** False: a pool is still being loaded, there may be more objects. */
  readonly complete?: boolean;
}

/**
 * Reads page by page, so that output begins before the last page.
 * @param onIncomplete called once if pools are still being loaded
 */
export async function* readObjects(
  rpc: Rpc,
  question: ObjectQuery,
  onIncomplete: () => void,
): AsyncGenerator<readonly Row[]> {
  if (question.type === undefined) {
    yield await readAll(rpc, question);
    return;
  }
  let left = question.limit ?? Infinity;
  let after: string | undefined;
  do {
    const page = await readPage(rpc, question, {
      limit: Math.min(left, PAGE_ROWS),
      after,
    });
    if (page.complete === false && after === undefined) onIncomplete();
    yield page.rows;
    left -= page.rows.length;
    after = page.next;
  } while (after !== undefined && left > 0);
}

async function readPage(
  rpc: Rpc,
  question: ObjectQuery,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<Page> {
  const { type, filter, sort, fields } = question;
  try {
    return (await rpc.call("query.page", {
      type,
      limit,
      ...(filter === undefined ? {} : { filter }),
      ...(sort.length === 0 ? {} : { sort }),
      ...(fields === undefined ? {} : { fields }),
      ...(after === undefined ? {} : { after }),
    })) as Page;
  } catch (error) {
    if (after !== undefined || !isUnknownMethod(error)) throw error;
    return { rows: await readAll(rpc, question) };
  }
}

/** Reads all objects in one response, for servers without queries; sorted and limited by the client. */
async function readAll(
  rpc: Rpc,
  question: ObjectQuery,
): Promise<readonly Row[]> {
  const { sort, limit } = question;
  const filter = toFilter(question);
  const objects = (await rpc.call(
    "xo.getAllObjects",
    filter === undefined ? {} : { filter },
  )) as Record<string, Row>;
  const keys = sort.length === 0 ? [{ by: "name_label" }] : sort;
  return Object.values(objects)
    .sort((a, b) => compare(a, b, keys))
    .slice(0, limit);
}

function toFilter({ type, filter }: ObjectQuery): string | object | undefined {
  if (type === undefined) return filter;
  if (filter === undefined) return { type };
  // A plain `type:VM` matches VM-template as well.
  const exact = type.replace(/[^\w-]/g, "");
  return `type:/^${exact}$/ (${filter})`;
}

/** Whether the server lacks a method, as Xen Orchestra lacks `query.*`. */
export function isUnknownMethod(error: unknown): boolean {
  return error instanceof RequestError && error.code === "UNKNOWN_METHOD";
}

const collator = new Intl.Collator(undefined, { numeric: true });

function compare(a: Row, b: Row, keys: readonly SortKey[]): number {
  for (const { by, descending } of keys) {
    const [one, other] = [valueAt(a, by), valueAt(b, by)];
    if (one === other) continue;
    // Missing values come last in both directions.
    if (one === undefined || one === null) return 1;
    if (other === undefined || other === null) return -1;
    const order =
      typeof one === "number" && typeof other === "number"
        ? one - other
        : collator.compare(toText(one), toText(other));
    if (order !== 0) return descending === true ? -order : order;
  }
  return 0;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
