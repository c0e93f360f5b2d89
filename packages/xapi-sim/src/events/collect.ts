import { datamodel } from "@xo-server/model";
import type { Database } from "../database.js";
import type { Row } from "../row.js";
import type { Table } from "../table.js";
import type { EventFilter } from "./filter.js";
import type { Position } from "./token.js";

/** One event of an answer; `row` is there for add and mod, and shows the record as it is now. */
export interface CollectedEvent {
  readonly operation: "add" | "mod" | "del";
  readonly className: string;
  readonly ref: string;
  /** Generation of the change; 0 for messages. */
  readonly id: number;
  readonly row: Row | undefined;
}

export interface Collected {
  /** Messages, then all adds, mods, dels; inside a group by class. */
  readonly events: readonly CollectedEvent[];
  /** The newest change that matched: never past what the filter saw. */
  readonly position: Position;
}

/** The classes in XAPI's order of answers: names downwards, lower case before capitals. */
const ORDER = Object.keys(datamodel.classes).sort((a, b) => (a < b ? 1 : -1));
const rank = new Map(ORDER.map((name, i) => [name, i]));

/** XAPI stores at most this many messages. */
const MAX_MESSAGES = 10_000;

/**
 * Changes that a client at `from` has not received yet, those of one object merged into one event.
 */
export function collect(
  db: Database,
  filter: EventFilter,
  from: Position,
): Collected {
  const adds: CollectedEvent[] = [];
  const mods: CollectedEvent[] = [];
  let database = from.database;
  for (const row of db.changedSince(from.database)) {
    const { className } = row;
    if (!makesEvents(className) || !filter.matches(className, row.ref))
      continue;
    database = Math.max(database, row.modified);
    if (row.created > from.database) adds.push(toEvent("add", row));
    else mods.push(toEvent("mod", row));
  }
  const dels: CollectedEvent[] = [];
  for (const table of db.tables()) {
    if (!makesEvents(table.className)) continue;
    database = Math.max(
      database,
      collectDels(db, table, filter, { from, dels }),
    );
  }
  const messages = collectMessages(db, filter, from);
  return {
    events: [
      ...messages.events,
      ...byClass(adds),
      ...byClass(mods),
      ...byClass(dels),
    ],
    position: { database, messages: messages.newest },
  };
}

function makesEvents(className: string): boolean {
  return className !== "message" && datamodel.classes[className]!.events;
}

function toEvent(operation: "add" | "mod", row: Row): CollectedEvent {
  return {
    operation,
    className: row.className,
    ref: row.ref,
    id: row.modified,
    row,
  };
}

/** @returns the newest generation seen */
function collectDels(
  db: Database,
  { className }: Table,
  filter: EventFilter,
  { from, dels }: { from: Position; dels: CollectedEvent[] },
): number {
  let newest = 0;
  for (const { ref, created, deleted } of db.deletedSince(
    className,
    from.database,
  )) {
    if (!filter.matches(className, ref)) continue;
    // Created and destroyed in between: no event.
    if (created > from.database) continue;
    newest = Math.max(newest, deleted);
    dels.push({
      operation: "del",
      className,
      ref,
      id: deleted,
      row: undefined,
    });
  }
  return newest;
}

function collectMessages(
  db: Database,
  filter: EventFilter,
  { messages: from }: Position,
): { events: CollectedEvent[]; newest: number } {
  const events: CollectedEvent[] = [];
  let newest = from;
  if (!filter.concerns("message")) return { events, newest };
  for (const row of db.messagesSince(from)) {
    if (!filter.matches("message", row.ref)) continue;
    newest = Math.max(newest, row.modified);
    if (events.length < MAX_MESSAGES)
      events.push({ ...toEvent("add", row), id: 0 });
  }
  events.reverse();
  for (const { ref, deleted } of db.deletedSince("message", from)) {
    if (!filter.matches("message", ref)) continue;
    newest = Math.max(newest, deleted);
    events.push({
      operation: "del",
      className: "message",
      ref,
      id: 0,
      row: undefined,
    });
  }
  return { events, newest };
}

function byClass(events: CollectedEvent[]): CollectedEvent[] {
  return events.sort(
    (a, b) => rank.get(a.className)! - rank.get(b.className)! || b.id - a.id,
  );
}

/** Classes that XAPI does not keep in its database: they always count 0. */
const uncounted = new Set(["message", "role"]);

/** Live objects by class, in lower case, of every class. */
export function countRefs(db: Database): [className: string, count: number][] {
  return ORDER.map((name) => [
    name.toLowerCase(),
    uncounted.has(name) ? 0 : db.count(name),
  ]);
}
