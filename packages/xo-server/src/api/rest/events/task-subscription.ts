import {
  mayRead,
  type TaskChange,
  type TaskReader,
} from "../../../tasks/task-changes.js";
import type { TaskView } from "../../../tasks/task-view.js";
import { pick } from "../collections/collection-pages.js";
import { toEvent } from "./subscription.js";

/** Maximum number of known tasks per client. A task that was evicted is sent as added again. */
const MAX_KNOWN = 10_000;

/** Task events of one stream. */
export class TaskSubscription {
  readonly #reader: TaskReader;
  readonly #fields: readonly string[] | "*";
  /** The fields as they were last sent, encoded, by task id. */
  readonly #known = new Map<string, string>();

  constructor(reader: TaskReader, fields: readonly string[] | "*") {
    this.#reader = reader;
    this.#fields = fields;
  }

  /** The client may have read this task before. */
  addKnown(task: TaskView): void {
    this.#known.delete(task.id);
    this.#known.set(task.id, this.#encode(task));
    if (this.#known.size > MAX_KNOWN)
      this.#known.delete(this.#known.keys().next().value!);
  }

  /** Encodes a change as an event; undefined: not relevant for this client. */
  encode(change: TaskChange): Buffer | undefined {
    if (!mayRead(this.#reader, change)) return undefined;
    if (change.kind === "remove")
      return this.#known.delete(change.id)
        ? toEvent("remove", toData({ id: change.id, type: "task" }))
        : undefined;
    const { task } = change;
    const before = this.#known.get(task.id);
    this.addKnown(task);
    if (before === this.#known.get(task.id)) return undefined;
    const name = before === undefined ? "add" : "update";
    return toEvent(name, toData(pick(task, this.#fields)));
  }

  #encode(task: TaskView): string {
    return JSON.stringify(pick(task, this.#fields));
  }
}

function toData(object: object): Buffer {
  return Buffer.from(JSON.stringify({ $subscription: "task", ...object }));
}
