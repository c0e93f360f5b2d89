import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { textOf } from "./text-of.js";

export interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface BulkFailure {
  readonly id: string;
  readonly error: { readonly code?: string; readonly message: string };
}

/** What has become of many. */
export interface BulkOutcome {
  readonly succeeded: number;
  readonly failed: readonly BulkFailure[];
  readonly failedLeftOut: number;
  readonly notBegun: number;
}

interface Followed {
  readonly onCounts: (counts: TaskCounts) => void;
  readonly onEnd: (task: Readonly<Record<string, Json>>) => void;
}

/** Progress of the tasks that this page has started, while they run. */
export class TaskFollower {
  readonly #call: Call;
  readonly #followed = new Map<string, Followed>();

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

  /** For each connection, and when a subscription starts: missed changes are requested. */
  async renew(): Promise<void> {
    if (this.#followed.size === 0) return;
    try {
      await this.#call("task.subscribe", { details: false });
      const params = { limit: 200, details: false };
      const tasks = await this.#call("task.list", params);
      for (const task of toList(tasks)) this.#take(task);
    } catch {
      // The connection was lost: the next one requests again.
    }
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
    const followed = this.#followed.get(textOf(task["id"]));
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
