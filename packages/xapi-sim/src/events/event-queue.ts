import { datamodel } from "@xo-server/model";
import type { SimulatorClock } from "../clock.js";
import type { Change, Database } from "../database.js";
import type { Answer } from "../rpc/answer.js";
import { recordToJson } from "../rpc/json-writer.js";
import { recordToXml } from "../rpc/xml-writer.js";
import { XapiFailure } from "../xapi-failure.js";
import type { EventWaiters } from "./event-waiters.js";
import { EventFilter } from "./filter.js";

/**
 * XAPI's queue holds 10 MB of JSON; above that the oldest events are dropped.
 */
const QUEUE_BYTES = 10_000_000;

interface QueuedEvent extends Change {
  readonly id: number;
  /** Unix time with XAPI's dot: `1795233570.` */
  readonly timestamp: string;
  readonly bytes: number;
}

interface Subscription {
  classes: Set<string>;
  /** The id of the next event of the session. */
  next: number;
}

/** The old interface: event.register, event.next, event.unregister. One queue for all, one place in it a session. */
export class EventQueue {
  readonly #clock: SimulatorClock;
  readonly #waiters: EventWaiters;
  readonly #subscriptions = new Map<string, Subscription>();
  #events: QueuedEvent[] = [];
  #bytes = 0;
  #nextId = 0;

  constructor(db: Database, clock: SimulatorClock, waiters: EventWaiters) {
    this.#clock = clock;
    this.#waiters = waiters;
    db.onChange((change) => {
      // Without a registration nothing is queued: most clients use event.from.
      if (this.#subscriptions.size > 0) this.#push(change);
    });
  }

  get currentId(): number {
    return this.#nextId;
  }

  register(session: string, classes: readonly string[]): void {
    const subscription = this.#subscriptions.get(session) ?? {
      classes: new Set(),
      next: this.#nextId,
    };
    for (const name of classes) subscription.classes.add(name);
    this.#subscriptions.set(session, subscription);
  }

  unregister(session: string, classes: readonly string[]): void {
    const subscription = this.#subscriptions.get(session);
    if (subscription === undefined) return;
    for (const name of classes) subscription.classes.delete(name);
    if (subscription.classes.size === 0) this.forget(session);
  }

  forget(session: string): void {
    this.#subscriptions.delete(session);
  }

  /** Blocks until there are events. @throws XapiFailure SESSION_NOT_REGISTERED, EVENTS_LOST */
  async next(
    session: string,
    checkSession: () => void,
    signal: AbortSignal,
  ): Promise<Answer> {
    for (;;) {
      checkSession();
      const subscription = this.#subscriptions.get(session);
      if (subscription === undefined)
        throw new XapiFailure("SESSION_NOT_REGISTERED", [trackId(session)]);
      const filter = new EventFilter([...subscription.classes]);
      const events = this.#take(subscription, filter);
      if (events.length > 0 || signal.aborted) return answer(events);
      await this.#waiters.change(filter, Infinity, signal);
      // XAPI checks its queue about twice a second.
      await this.#waiters.delay(500, signal);
    }
  }

  #take(subscription: Subscription, filter: EventFilter): QueuedEvent[] {
    const oldest = this.#events[0]?.id ?? this.#nextId;
    const lost = subscription.next < oldest;
    const events = this.#events.filter(
      ({ id, className, ref }) =>
        id >= subscription.next && filter.matches(className, ref),
    );
    subscription.next = this.#nextId;
    if (lost) throw new XapiFailure("EVENTS_LOST");
    return events;
  }

  #push(change: Change): void {
    if (!datamodel.classes[change.className]!.events) return;
    const bytes = recordToJson(change.className, change.record).length;
    this.#events.push({
      ...change,
      id: this.#nextId++,
      timestamp: `${Math.floor(this.#clock.now() / 1000)}.`,
      bytes,
    });
    this.#bytes += bytes;
    let gone = 0;
    while (this.#bytes > QUEUE_BYTES)
      this.#bytes -= this.#events[gone++]!.bytes;
    if (gone > 0) this.#events = this.#events.slice(gone);
  }
}

/** XAPI shows a hash, never the session itself. */
function trackId(session: string): string {
  let hash = "";
  for (let word = 0; word < 4; word++) {
    let h = 0x811c9dc5 ^ word;
    for (const c of session) h = Math.imul(h ^ c.charCodeAt(0), 0x01000193);
    hash += (h >>> 0).toString(16).padStart(8, "0");
  }
  return `trackid=${hash}`;
}

function answer(events: readonly QueuedEvent[]): Answer {
  return {
    json: () => [
      `[${events
        .map(
          ({ id, timestamp, className, operation, ref, record }) =>
            `{"id":"${id}","timestamp":"${timestamp}","class":"${className.toLowerCase()}","operation":"${operation}","ref":"${ref}","snapshot":${recordToJson(className, record)}}`,
        )
        .join(",")}]`,
    ],
    xml: () => [
      `<value><array><data>${events.map(toXml).join("")}</data></array></value>`,
    ],
  };
}

function toXml(event: QueuedEvent): string {
  const { id, timestamp, className, operation, ref, record } = event;
  const members = [
    ["id", String(id)],
    ["timestamp", timestamp],
    ["class", className.toLowerCase()],
    ["operation", operation],
    ["ref", ref],
  ].map(
    ([name, value]) =>
      `<member><name>${name}</name><value>${value}</value></member>`,
  );
  return `<value><struct>${members.join("")}<member><name>snapshot</name>${recordToXml(className, record)}</member></struct></value>`;
}
