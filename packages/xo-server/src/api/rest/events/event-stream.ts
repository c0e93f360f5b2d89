import type { ServerResponse } from "node:http";
import type { Frame } from "@xo-server/inventory";
import type { Extent, Rights } from "../../../rights/rights.js";
import type { Caller } from "../../authentication/caller.js";
import type { TaskChange } from "../../../tasks/task-changes.js";
import type { Subscription } from "./subscription.js";
import type { TaskSubscription } from "./task-subscription.js";

interface EventStreamOptions {
  readonly id: string;
  readonly caller: Caller;
  readonly response: ServerResponse;
  /** Maximum number of unsent bytes of a client. */
  readonly maxBufferedBytes: number;
  /** Called before a slow client is disconnected. */
  readonly onSlow: () => void;
}

interface Subscribed {
  readonly subscription: Subscription;
  readonly extent: Extent;
}

/** One event stream. A client that does not read is disconnected at `maxBufferedBytes`. */
export class EventStream {
  readonly id: string;
  readonly #options: EventStreamOptions;
  readonly #subscribed = new Map<string, Subscribed>();
  #tasks: TaskSubscription | undefined;

  constructor(options: EventStreamOptions) {
    this.id = options.id;
    this.#options = options;
    this.#send(`event: init\ndata: ${JSON.stringify({ id: options.id })}\n\n`);
  }

  belongsTo({ context }: Caller): boolean {
    return context.user?.id === this.#options.caller.context.user?.id;
  }

  subscribe(subscription: Subscription, extent: Extent): void {
    this.#subscribed.set(subscription.name, { subscription, extent });
  }

  subscribeToTasks(subscription: TaskSubscription): void {
    this.#tasks = subscription;
  }

  /** @returns false: no such subscription */
  unsubscribe(name: string): boolean {
    if (name === "task") {
      const had = this.#tasks !== undefined;
      this.#tasks = undefined;
      return had;
    }
    return this.#subscribed.delete(name);
  }

  ping(now: number): void {
    if (this.#rights() === undefined) this.end();
    else this.#send(`event: ping\ndata: ${JSON.stringify({ ping: now })}\n\n`);
  }

  send({ changes, summaries }: Frame): void {
    const affected = [...this.#subscribed.values()].filter(({ subscription }) =>
      summaries.has(subscription.type),
    );
    if (affected.length === 0 || this.#endIfRightsChanged(affected)) return;
    const events: Buffer[] = [];
    for (const change of changes)
      for (const { subscription } of affected) {
        if (subscription.type !== change.type) continue;
        const event = subscription.encode(change);
        if (event !== undefined) events.push(event);
      }
    if (events.length > 0) this.#send(Buffer.concat(events));
  }

  sendTask(change: TaskChange): void {
    const event = this.#tasks?.encode(change);
    if (event === undefined) return;
    if (this.#rights() === undefined) this.end();
    else this.#send(event);
  }

  end(): void {
    this.#options.response.end();
  }

  /** Ends the stream when the rights of the client have changed: the client reconnects and authenticates again. */
  #endIfRightsChanged(affected: readonly Subscribed[]): boolean {
    const rights = this.#rights();
    const isSame = affected.every(
      ({ subscription, extent }) =>
        rights?.extent("read", subscription.type) === extent,
    );
    if (!isSame) this.end();
    return !isSame;
  }

  /** The current rights; undefined: the session has ended. */
  #rights(): Rights | undefined {
    const { caller } = this.#options;
    const { context } = caller;
    if (context.user === undefined) return caller.rights();
    const user = context.client.session?.user();
    return user?.isSetUpOnly === true ? undefined : user?.rights;
  }

  #send(text: string | Buffer): void {
    const { response, maxBufferedBytes, onSlow } = this.#options;
    if (response.writableEnded || response.destroyed) return;
    response.write(text);
    if (response.writableLength <= maxBufferedBytes) return;
    onSlow();
    response.destroy();
  }
}
