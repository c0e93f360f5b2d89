import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { textOf } from "./text-of.js";

interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface BulkFailure {
  readonly id: string;
  /** When it failed. */
  readonly name?: string;
  readonly error: { readonly code?: string; readonly message: string };
}

/** Counts of a task on several objects. */
export interface BulkOutcome {
  readonly succeeded: number;
  readonly failed: readonly BulkFailure[];
  readonly failedLeftOut: number;
  readonly notBegun: number;
}

type TaskProperties = Readonly<Record<string, Json>>;

/** A task that is about to start, known only by its properties. */
interface ExpectedTask {
  readonly begun: Promise<void>;
  /** Resolves with the task when it has ended. */
  readonly ended: Promise<Readonly<Record<string, Json>>>;
  /** Rejects both promises with this reason, unless the task has started. */
  readonly giveUp: (reason: string) => void;
}

interface Expected {
  readonly fits: (properties: TaskProperties) => boolean;
  /** Tasks that existed before. */
  readonly others: Set<string>;
  readonly onBegin: (id: string) => void;
}

interface Followed {
  readonly onCounts: (counts: TaskCounts) => void;
  readonly onEnd: (task: Readonly<Record<string, Json>>) => void;
}

/** Progress of the tasks that this page has started, while they run. */
export class TaskFollower {
  readonly #call: Call;
  readonly #followed = new Map<string, Followed>();
  readonly #expected = new Set<Expected>();

  constructor(call: Call) {
    this.#call = call;
  }

  /** Resolves when the task has ended, also after a reconnect. */
  follow(
    id: string,
    onCounts: (counts: TaskCounts) => void,
  ): Promise<BulkOutcome> {
    return new Promise((resolve) => {
      const onEnd = (task: Readonly<Record<string, Json>>) => {
        this.#followed.delete(id);
        resolve(toOutcome(task));
      };
      this.#followed.set(id, { onCounts, onEnd });
      void this.renew();
    });
  }

  /**
   * Waits for the next task that matches, such as that of a download, which starts
   * when the browser fetches it. Tasks that are known now do not count.
   */
  async expect(
    fits: (properties: TaskProperties) => boolean,
  ): Promise<ExpectedTask> {
    const known = await this.#list().catch(() => []);
    const others = new Set(known.map((task) => idOf(task)));
    const begun = defer<void>();
    const ended = defer<Readonly<Record<string, Json>>>();
    // A caller that expects the task may await only one of them.
    begun.promise.catch(() => undefined);
    ended.promise.catch(() => undefined);
    const expected: Expected = {
      fits,
      others,
      onBegin: (id) => {
        this.#expected.delete(expected);
        begun.resolve();
        this.#followed.set(id, {
          onCounts: () => undefined,
          onEnd: (task) => {
            this.#followed.delete(id);
            ended.resolve(task);
          },
        });
      },
    };
    this.#expected.add(expected);
    return {
      begun: begun.promise,
      ended: ended.promise,
      giveUp: (reason) => {
        if (!this.#expected.delete(expected)) return;
        begun.reject(new Error(reason));
        ended.reject(new Error(reason));
      },
    };
  }

  /** Requests missed changes; to be called for each connection, and when a subscription starts. */
  async renew(): Promise<void> {
    if (this.#followed.size === 0 && this.#expected.size === 0) return;
    try {
      for (const task of await this.#list()) this.#take(task);
    } catch {
      // The connection was lost: the next one requests again.
    }
  }

  async #list(): Promise<readonly Json[]> {
    await this.#call("task.subscribe", { details: false });
    const params = { limit: 200, details: false };
    return toList(await this.#call("task.list", params));
  }

  /** A notification `task`. */
  notified(params: Json): void {
    if (!isObject(params)) return;
    if (params["reset"] === true) void this.renew();
    const { update } = params;
    for (const task of toList(update)) this.#take(task);
  }

  #take(task: Json): void {
    if (!isObject(task)) return;
    this.#takeExpected(task);
    const followed = this.#followed.get(idOf(task));
    if (followed === undefined) return;
    const { counts, status } = task;
    if (isObject(counts))
      followed.onCounts({
        total: Number(counts["total"] ?? 0),
        succeeded: Number(counts["succeeded"] ?? 0),
        failed: Number(counts["failed"] ?? 0),
      });
    if (status !== "pending") followed.onEnd(task);
  }

  #takeExpected(task: Readonly<Record<string, Json>>): void {
    const { properties } = task;
    const id = idOf(task);
    if (!isObject(properties)) return;
    for (const { fits, others, onBegin } of this.#expected)
      if (!others.has(id) && fits(properties)) {
        onBegin(id);
        return;
      }
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function defer<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle! };
}

function idOf(task: Json): string {
  return isObject(task) ? textOf(task["id"]) : "";
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function toOutcome(task: Readonly<Record<string, Json>>): BulkOutcome {
  const result = isObject(task["result"]) ? task["result"] : {};
  const { failed, succeeded, failedLeftOut, notBegun } = result;
  if (!Array.isArray(failed)) {
    const message = textOf(result["message"] ?? task["status"]);
    const own =
      task["status"] === "success" ? [] : [{ id: "", error: { message } }];
    return { succeeded: 0, failed: own, failedLeftOut: 0, notBegun: 0 };
  }
  return {
    succeeded: Number(succeeded ?? 0),
    failed: failed as BulkFailure[],
    failedLeftOut: Number(failedLeftOut ?? 0),
    notBegun: Number(notBegun ?? 0),
  };
}
