import type { WallClock } from "@xo-server/kit";
import type { Client } from "../auth/sessions/client.js";
import { mayRead, type TaskChange } from "./task-changes.js";
import { toSummary, type TaskView } from "./task-view.js";
import type { Tasks } from "./tasks.js";

/** Changes of tasks within this time are sent together, in ms. */
const WINDOW_MS = 200;
/** Retry interval for a client that does not read, in ms. */
const RETRY_MS = 1_000;
/** Maximum number of tasks per message. */
const A_MESSAGE = 50;
/**
 * Maximum number of changed tasks that wait for a slow client: above it the client has to list them
 * again.
 */
const MAX_WAITING = 2_000;

interface Subscriber {
  readonly client: Client;
  /** False: tasks are sent without subtasks, notes and long parameters. */
  withDetails: boolean;
  /** The newest change of each task. */
  readonly waiting: Map<string, TaskChange>;
  hasMissed: boolean;
  timer: unknown;
}

interface TaskSubscriptionsOptions {
  readonly tasks: Pick<Tasks, "watch">;
  readonly clock: WallClock;
}

/**
 * Sends changes of tasks as notifications `task` {update, remove, reset?} to
 * clients that may read them.
 */
export class TaskSubscriptions {
  readonly #options: TaskSubscriptionsOptions;
  readonly #subscribers = new Map<Client, Subscriber>();
  readonly #encoded = { whole: new Encoder(), summary: new Encoder(toSummary) };
  #unwatch: (() => void) | undefined;

  constructor(options: TaskSubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * @param withDetails false: tasks without subtasks, notes and long parameters. The last call counts
   * @throws XoError QUEUE_FULL
   */
  add(client: Client, withDetails = true): void {
    const known = this.#subscribers.get(client);
    if (known !== undefined) {
      known.withDetails = withDetails;
      return;
    }
    this.#unwatch ??= this.#options.tasks.watch((change) => {
      for (const one of this.#subscribers.values()) this.#put(one, change);
    });
    const waiting = new Map<string, TaskChange>();
    const state = { withDetails, hasMissed: false, timer: undefined };
    this.#subscribers.set(client, { client, waiting, ...state });
  }

  /** @returns false: the client was not subscribed */
  delete(client: Client): boolean {
    const { clock } = this.#options;
    clock.clearTimeout(this.#subscribers.get(client)?.timer);
    const was = this.#subscribers.delete(client);
    if (this.#subscribers.size === 0) this.#stopWatching();
    return was;
  }

  stop(): void {
    for (const client of [...this.#subscribers.keys()]) this.delete(client);
  }

  #stopWatching(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  #put(subscriber: Subscriber, change: TaskChange): void {
    const { client, waiting } = subscriber;
    const user = client.session?.user();
    if (user === undefined || !mayRead(user, change)) return;
    const id = change.kind === "update" ? change.task.id : change.id;
    waiting.delete(id);
    waiting.set(id, change);
    if (waiting.size > MAX_WAITING) {
      waiting.clear();
      subscriber.hasMissed = true;
    }
    this.#sendIn(subscriber, WINDOW_MS);
  }

  #sendIn(subscriber: Subscriber, ms: number): void {
    subscriber.timer ??= this.#options.clock.setTimeout(() => {
      subscriber.timer = undefined;
      this.#send(subscriber);
    }, ms);
  }

  #send(subscriber: Subscriber): void {
    const { client, waiting, hasMissed } = subscriber;
    const user = client.session?.user();
    // The user of the connection may have changed.
    const visible = [...waiting]
      .slice(0, A_MESSAGE)
      .filter(([, one]) => user !== undefined && mayRead(user, one));
    if (visible.length > 0 || hasMissed) {
      const changes = visible.map(([, one]) => one);
      if (!client.trySend(this.#encode(changes, subscriber))) {
        this.#sendIn(subscriber, RETRY_MS);
        return;
      }
    }
    subscriber.hasMissed = false;
    for (const id of [...waiting.keys()].slice(0, A_MESSAGE))
      waiting.delete(id);
    if (waiting.size > 0) this.#sendIn(subscriber, WINDOW_MS);
  }

  #encode(
    changes: readonly TaskChange[],
    { hasMissed, withDetails }: Subscriber,
  ): Buffer {
    const encoder = this.#encoded[withDetails ? "whole" : "summary"];
    const updates = changes.flatMap((one) =>
      one.kind === "update" ? [encoder.encode(one.task)] : [],
    );
    const removed = changes.flatMap((one) =>
      one.kind === "remove" ? [one.id] : [],
    );
    const reset = hasMissed ? '"reset":true,' : "";
    return Buffer.from(
      `{"jsonrpc":"2.0","method":"task","params":{${reset}"update":[${updates.join(",")}],"remove":${JSON.stringify(removed)}}}`,
    );
  }
}

/** Encodes a task once for all clients. */
class Encoder {
  readonly #known = new WeakMap<TaskView, string>();
  readonly #shown: (task: TaskView) => TaskView;

  constructor(shown = (task: TaskView): TaskView => task) {
    this.#shown = shown;
  }

  encode(task: TaskView): string {
    const known = this.#known.get(task) ?? JSON.stringify(this.#shown(task));
    this.#known.set(task, known);
    return known;
  }
}
