import { Readable } from "node:stream";
import { compileFilter, type ViewObject } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { TaskChange, TaskReader } from "../../../tasks/task-changes.js";
import { mayRead } from "../../../tasks/task-changes.js";
import { TaskChangeQueue } from "../../../tasks/task-change-queue.js";
import type { TaskView } from "../../../tasks/task-view.js";
import type { Tasks } from "../../../tasks/tasks.js";
import type { CallContext } from "../../../operations/operation.js";
import { pick } from "../collections/collection-pages.js";
import { readListQuery, type ListQuery } from "../lists/list-query.js";
import {
  callerOf,
  queryOf,
  type RestExchange,
} from "../routing/rest-request.js";
import { toTaskHref } from "./task-pages.js";

/** `/tasks?ndjson=true&watch=true`: all tasks, then their changes, as fast as the client reads. */
export class TaskWatches {
  readonly #tasks: Pick<Tasks, "list" | "watch">;
  readonly #open = new Set<TaskChangeQueue>();

  constructor(tasks: Pick<Tasks, "list" | "watch">) {
    this.#tasks = tasks;
  }

  /** @throws XoError INVALID_REQUEST: not ndjson; QUEUE_FULL */
  open({ request, reply }: RestExchange, reader: TaskReader): void {
    const query = readListQuery(queryOf(request));
    if (query.format !== "ndjson")
      throw new XoError("INVALID_REQUEST", {
        reason: "watch requires ndjson=true",
      });
    const mailbox = new TaskChangeQueue();
    // Subscribes before the list is read, so that no change is missed.
    const stop = this.#tasks.watch((change) => {
      if (mayRead(reader, change)) mailbox.put(change);
    });
    this.#open.add(mailbox);
    reply.raw.once("close", () => {
      stop();
      mailbox.close();
      this.#open.delete(mailbox);
    });
    const lines = this.#lines(mailbox, query, {
      reader,
      context: callerOf(request).context,
    });
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      "content-type": "application/x-ndjson",
      // Disables buffering of reverse proxies (nginx).
      "x-accel-buffering": "no",
    });
    // The client gets the status before the first change.
    raw.flushHeaders();
    const options = { objectMode: false, highWaterMark: 16_384 };
    Readable.from(lines, options)
      .on("error", () => raw.destroy())
      .pipe(raw);
  }

  stop(): void {
    for (const mailbox of this.#open) mailbox.close();
  }

  async *#lines(
    mailbox: TaskChangeQueue,
    query: ListQuery,
    { reader, context }: { reader: TaskReader; context: CallContext },
  ): AsyncGenerator<Buffer, void, void> {
    const shown = new ShownTasks(query);
    for await (const page of this.#tasks.list(reader)) {
      const lines = page.flatMap((task) => shown.first(task) ?? []);
      if (lines.length > 0) yield Buffer.from(lines.join(""));
      if (shown.isFull) break;
    }
    for await (const change of mailbox.take()) {
      // The session has ended: the client must sign in again.
      if (context.user !== undefined && !isSignedIn(context)) return;
      const line = shown.next(change);
      if (line !== undefined) yield Buffer.from(line);
    }
  }
}

function isSignedIn({ client }: CallContext): boolean {
  return client.session?.user() !== undefined;
}

/**
 * Maximum number of known ids per client. Above, a removal may be sent for a task
 * that was never sent.
 */
const MAX_SHOWN = 10_000;

/** The tasks that were sent to one client. */
class ShownTasks {
  readonly #query: ListQuery;
  readonly #test: (task: ViewObject) => boolean;
  readonly #ids = new Set<string>();
  #remaining: number;

  constructor(query: ListQuery) {
    const { filter, limit } = query;
    this.#query = query;
    this.#test = filter === undefined ? () => true : compileFilter(filter);
    this.#remaining = limit;
  }

  /** The limit applies to the initial list. */
  get isFull(): boolean {
    return this.#remaining <= 0;
  }

  first(task: TaskView): string | undefined {
    if (this.isFull || !this.#test(task)) return undefined;
    this.#remaining--;
    return this.#update(task);
  }

  next(change: TaskChange): string | undefined {
    if (change.kind === "update" && this.#test(change.task))
      return this.#update(change.task);
    const id = change.kind === "update" ? change.task.id : change.id;
    // A task that no longer matches the filter is removed for this client.
    return this.#ids.delete(id) ? toLine(["remove", { id }]) : undefined;
  }

  #update(task: TaskView): string {
    const { fields } = this.#query;
    this.#ids.add(task.id);
    if (this.#ids.size > MAX_SHOWN)
      this.#ids.delete(this.#ids.values().next().value!);
    const view =
      fields === undefined
        ? task
        : { ...pick(task, fields), href: toTaskHref(task) };
    return toLine(["update", view]);
  }
}

function toLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
