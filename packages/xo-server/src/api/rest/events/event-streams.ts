import type { WallClock } from "@xo-server/kit";
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Catalog, Queries, ViewObject } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Extent } from "../../../rights/rights.js";
import type { Tasks } from "../../../tasks/tasks.js";
import type { LimitHits } from "../../../limits/limit-hits.js";
import { isAlarm, toAlarm } from "../collections/alarms.js";
import type { Caller } from "../../authentication/caller.js";
import { invalidInput } from "../../errors/invalid-input.js";
import { ChangeEncodings } from "./change-encodings.js";
import { EventStream } from "./event-stream.js";
import { Subscription, type SubscriptionOptions } from "./subscription.js";
import { TaskSubscription } from "./task-subscription.js";

export interface EventStreamsOptions {
  readonly catalog: Pick<Catalog, "classOf" | "feed" | "follow" | "get">;
  readonly queries: Pick<Queries, "page">;
  /** Absent: no task events. */
  readonly tasks?: Pick<Tasks, "list" | "watch"> | undefined;
  readonly maxBufferedBytes: number;
  /** Maximum number of open streams. */
  readonly maxEventStreams: number;
  readonly maxEventStreamsPerUser: number;
  readonly hits: LimitHits;
  readonly clock: WallClock;
}

const PING_MS = 30_000;

function toUnknownCollection(name: string): XoError {
  return invalidInput({
    "body.collection": { message: "no such collection", value: name },
  });
}

/** Ids per page. */
const PAGE_SIZE = 1_000;

/** All event streams with their subscriptions. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #streams = new Map<string, EventStream>();
  readonly #encodings = new ChangeEncodings();
  /** Unsubscribes from the catalog's feed; set while a stream has a subscription. */
  #leaveFeed: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #timer: unknown;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  /** @throws XoError QUEUE_FULL: too many streams in total or of this user */
  checkLimit(caller: Caller): void {
    const { maxEventStreams, maxEventStreamsPerUser, hits } = this.#options;
    const all = [...this.#streams.values()];
    const own = all.filter((stream) => stream.belongsTo(caller)).length;
    const isFull = all.length >= maxEventStreams;
    if (!isFull && own < maxEventStreamsPerUser) return;
    hits.count("event_streams");
    const size = isFull ? maxEventStreams : maxEventStreamsPerUser;
    throw new XoError("QUEUE_FULL", { what: "/events", size });
  }

  /** Call `checkLimit` first. */
  open(response: ServerResponse, caller: Caller): EventStream {
    const { maxBufferedBytes, hits } = this.#options;
    const id = randomUUID();
    const stream = new EventStream({
      id,
      caller,
      response,
      maxBufferedBytes,
      onSlow: () => {
        hits.count("slow_reader");
      },
    });
    this.#streams.set(id, stream);
    response.on("close", () => {
      this.#streams.delete(id);
      if (this.#streams.size > 0) return;
      this.#leaveFeed?.();
      this.#leaveFeed = undefined;
    });
    this.#schedulePing();
    return stream;
  }

  /**
   * Subscribes a stream of the caller.
   * @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS: unknown collection
   */
  async subscribe(
    id: string,
    caller: Caller,
    request: Pick<SubscriptionOptions, "name" | "fields">,
  ): Promise<void> {
    const { catalog } = this.#options;
    const stream = this.#find(id, caller);
    if (request.name === "task") {
      await this.#subscribeToTasks(stream, caller, request.fields);
      return;
    }
    const type = request.name === "alarm" ? "message" : request.name;
    const className = catalog.classOf(type);
    if (className === undefined) throw toUnknownCollection(request.name);
    const extent = caller.rights().extent("read", type);
    const subscription = new Subscription({
      encodings: this.#encodings,
      ...request,
      type,
      ...this.#filterOf(request.name, extent),
    });
    this.#leaveFeed ??= catalog.feed.subscribe(
      (frame) => {
        for (const one of this.#streams.values()) one.send(frame);
      },
      { readRevision: () => Infinity },
    );
    await catalog.follow(className);
    stream.subscribe(subscription, extent);
    await this.#addKnownIds(subscription, extent);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  unsubscribe(id: string, caller: Caller, name: string): void {
    if (!this.#find(id, caller).unsubscribe(name))
      throw new XoError("NO_SUCH_OBJECT", { type: "subscription", id: name });
  }

  stop(): void {
    this.#leaveFeed?.();
    this.#unwatch?.();
    this.#options.clock.clearTimeout(this.#timer);
    for (const stream of this.#streams.values()) stream.end();
  }

  /** Tasks of the server; XAPI tasks are objects of the catalog. */
  async #subscribeToTasks(
    stream: EventStream,
    caller: Caller,
    fields: SubscriptionOptions["fields"],
  ): Promise<void> {
    const { tasks } = this.#options;
    if (tasks === undefined) throw toUnknownCollection("task");
    caller.rights();
    const reader = caller.context.user ?? { id: "", isAdmin: false };
    const subscription = new TaskSubscription(reader, fields);
    stream.subscribeToTasks(subscription);
    this.#unwatch ??= tasks.watch((change) => {
      for (const one of this.#streams.values()) one.sendTask(change);
    });
    for await (const page of tasks.list(reader))
      for (const task of page) subscription.addKnown(task);
  }

  #filterOf(
    name: string,
    extent: Extent,
  ): Pick<SubscriptionOptions, "accepts" | "map"> {
    const mayRead = (object: ViewObject) =>
      typeof extent === "function" ? extent(object) : extent === "all";
    const { catalog } = this.#options;
    switch (name) {
      case "alarm":
        return {
          accepts: (object) => isAlarm(object) && mayRead(object),
          map: (object) => toAlarm(object, catalog),
        };
      case "message":
        return { accepts: (object) => !isAlarm(object) && mayRead(object) };
      default:
        return extent === "all" ? {} : { accepts: mayRead };
    }
  }

  /** The client may have read these objects by other requests, so their removal must be sent. */
  async #addKnownIds(
    subscription: Subscription,
    extent: Extent,
  ): Promise<void> {
    if (extent === "none") return;
    const where = typeof extent === "function" ? { where: extent } : {};
    const request = {
      type: subscription.type,
      ...where,
      sort: [],
      limit: PAGE_SIZE,
    };
    let after: string | undefined;
    do {
      const page = await this.#options.queries.page({
        ...request,
        ...(after === undefined ? {} : { after }),
      });
      for (const id of page.ids) subscription.addKnown(id);
      after = page.next;
    } while (after !== undefined);
  }

  #find(id: string, caller: Caller): EventStream {
    const stream = this.#streams.get(id);
    if (stream?.belongsTo(caller) === true) return stream;
    throw new XoError("NO_SUCH_OBJECT", { type: "event stream", id });
  }

  #schedulePing(): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#options;
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      for (const stream of this.#streams.values()) stream.ping(clock.now());
      if (this.#streams.size > 0) this.#schedulePing();
    }, PING_MS);
  }
}
