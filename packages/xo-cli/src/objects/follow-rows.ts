import type { Rpc } from "../server/rpc.js";
import { isUnknownMethod } from "./read-objects.js";
import { usageError } from "../cli-error.js";
import type { Row } from "./path.js";
import type {
  AllUpdate,
  QueryUpdate,
  RowEvent,
  WatchedRows,
} from "./watched-rows.js";

/** What is followed. */
export interface Followed {
  readonly type: string | undefined;
  readonly filter: string | undefined;
  readonly fields: readonly string[] | undefined;
}

/** Gets the events in their order; the server is not read while it is busy. */
export type Teller = (events: readonly RowEvent[]) => Promise<void>;

/** The most that a window of the server has. */
const MAX_ROWS = 10_000;

const NAME = "watch";

/**
 * Brings `rows` up to date and keeps them so.
 * @param onReady all rows that there are have been told
 * @throws XoError when the connection breaks; it does not end before
 */
export async function followRows(
  rpc: Rpc,
  followed: Followed,
  {
    rows,
    tell,
    onReady,
  }: { rows: WatchedRows; tell: Teller; onReady: () => Promise<void> },
): Promise<never> {
  const waiting: { method: string; params: unknown }[] = [];
  let take = (method: string, params: unknown): void => {
    waiting.push({ method, params });
  };
  rpc.onNotification((method, params) => {
    take(method, params);
  });
  const source = await begin(rpc, followed, rows);
  await tell(source.first);
  await onReady();
  let told = Promise.resolve();
  const failed = new Promise<never>((_, reject) => {
    take = (method, params) => {
      if (method !== source.method) return;
      const events = source.take(params);
      if (events.length === 0) return;
      rpc.pause();
      told = told
        .then(() => tell(events))
        .finally(() => {
          rpc.resume();
        });
      told.catch(reject);
    };
  });
  for (const { method, params } of waiting) take(method, params);
  return Promise.race([rpc.lost, failed]);
}

interface Source {
  readonly first: readonly RowEvent[];
  /** Of the notifications that tell more. */
  readonly method: string;
  readonly take: (params: unknown) => RowEvent[];
}

async function begin(
  rpc: Rpc,
  followed: Followed,
  rows: WatchedRows,
): Promise<Source> {
  if (followed.type === undefined) return beginAll(rpc, followed, rows);
  try {
    return await beginQuery(rpc, followed, rows);
  } catch (error) {
    if (!isUnknownMethod(error)) throw error;
    return beginAll(rpc, followed, rows);
  }
}

async function beginQuery(
  rpc: Rpc,
  { type, filter, fields }: Followed,
  rows: WatchedRows,
): Promise<Source> {
  const first = (await rpc.call("query.open", {
    name: NAME,
    type,
    offset: 0,
    limit: MAX_ROWS,
    ...(filter === undefined ? {} : { filter }),
    ...(fields === undefined ? {} : { fields }),
  })) as QueryUpdate;
  return {
    first: rows.begin(first),
    method: "query",
    take: (params) => rows.take(params as QueryUpdate),
  };
}

/** Servers without queries tell everything to everybody who has signed in. */
async function beginAll(
  rpc: Rpc,
  { type, filter }: Followed,
  rows: WatchedRows,
): Promise<Source> {
  if (filter !== undefined)
    throw usageError(
      type === undefined
        ? "a filter needs a type"
        : "this server cannot follow a filter",
      "xo-cli watch VM --filter power_state:running",
    );
  const all = (await rpc.call(
    "xo.getAllObjects",
    type === undefined ? {} : { filter: { type } },
  )) as Record<string, Row>;
  const isWanted = (row: Row): boolean =>
    type === undefined || row["type"] === type;
  return {
    first: rows.replace(new Map(Object.entries(all))),
    method: "all",
    take: (params) => rows.takeAll(params as AllUpdate, isWanted),
  };
}
