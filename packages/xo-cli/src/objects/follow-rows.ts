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

/** Selection of the watched objects. */
export interface Followed {
  readonly type: string | undefined;
  readonly filter: string | undefined;
  readonly fields: readonly string[] | undefined;
}

/** Receives events in order; the connection is paused until it resolves. */
type OnEvents = (events: readonly RowEvent[]) => Promise<void>;

/** Maximum size of a live query window of the server. */
const MAX_ROWS = 10_000;

const NAME = "watch";

/**
 * Reads all rows, then follows their changes.
 * @param onReady called when all rows have been received
 * @throws XoError when the connection is lost; does not end otherwise
 */
export async function followRows(
  rpc: Rpc,
  followed: Followed,
  {
    rows,
    onEvents,
    onReady,
  }: { rows: WatchedRows; onEvents: OnEvents; onReady: () => Promise<void> },
): Promise<never> {
  const waiting: { method: string; params: unknown }[] = [];
  let take = (method: string, params: unknown): void => {
    waiting.push({ method, params });
  };
  rpc.onNotification((method, params) => {
    take(method, params);
  });
  const source = await begin(rpc, followed, rows);
  await onEvents(source.first);
  await onReady();
  let printed = Promise.resolve();
  const failed = new Promise<never>((_, reject) => {
    take = (method, params) => {
      if (method !== source.method) return;
      const events = source.take(params);
      if (events.length === 0) return;
      rpc.pause();
      printed = printed
        .then(() => onEvents(events))
        .finally(() => {
          rpc.resume();
        });
      printed.catch(reject);
    };
  });
  for (const { method, params } of waiting) take(method, params);
  return Promise.race([rpc.lost, failed]);
}

interface Source {
  readonly first: readonly RowEvent[];
  /** Method of the notifications with changes. */
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

/** Servers without live queries send the changes of all objects to signed-in clients. */
async function beginAll(
  rpc: Rpc,
  { type, filter }: Followed,
  rows: WatchedRows,
): Promise<Source> {
  if (filter !== undefined)
    throw usageError(
      type === undefined
        ? "a filter requires a type"
        : "this server does not support filters in watch",
      "xo-cli watch VM --filter power_state:running",
    );
  const all = (await rpc.call(
    "xo.getAllObjects",
    type === undefined ? {} : { filter: { type } },
  )) as Record<string, Row>;
  const isSelected = (row: Row): boolean =>
    type === undefined || row["type"] === type;
  return {
    first: rows.replace(new Map(Object.entries(all))),
    method: "all",
    take: (params) => rows.takeAll(params as AllUpdate, isSelected),
  };
}
