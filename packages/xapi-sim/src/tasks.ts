import { toDatetime, type SimulatorClock } from "./clock.js";
import type { Database } from "./database.js";
import type { TaskContext } from "./operation.js";
import type { Random } from "./random.js";
import { XapiFailure } from "./xapi-failure.js";

/** XAPI's limits [xapi_globs.ml:732-734]. */
const FINISHED_KEPT_MS = 65 * 60_000;
const PENDING_KEPT_MS = 24 * 3600_000;
const SWEEP_EVERY_MS = 30_000;

/** A task that an operation works on. */
class RunningTask implements TaskContext {
  readonly ref: string;
  readonly #tasks: Tasks;
  readonly #abort = new AbortController();

  constructor(tasks: Tasks, ref: string) {
    this.#tasks = tasks;
    this.ref = ref;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  progress(fraction: number): void {
    this.#tasks.write(this.ref, { progress: fraction });
  }

  cancel(): void {
    this.#abort.abort();
  }
}

/** The pool's tasks: created, run, finished in XAPI's order of writes, and deleted after some time. */
export class Tasks {
  readonly #db: Database;
  readonly #clock: SimulatorClock;
  readonly #random: Random;
  readonly #running = new Map<string, RunningTask>();
  /** Pending tasks that a client has destroyed. */
  readonly #destroyedAtEnd = new Set<string>();
  #sweep: unknown;

  constructor(db: Database, clock: SimulatorClock, random: Random) {
    this.#db = db;
    this.#clock = clock;
    this.#random = random;
  }

  /** Makes a task of the caller's own. @returns its reference */
  create(
    label: string,
    description: string,
    links: {
      session?: string;
      residentOn: string;
      subtaskOf?: string;
      marks?: Readonly<Record<string, string>> | undefined;
    },
  ): string {
    return this.#db.create("task", {
      name_label: label,
      name_description: description,
      created: toDatetime(this.#clock.now()),
      status: "pending",
      resident_on: links.residentOn,
      type: "<none/>",
      backtrace: "()",
      ...(links.marks === undefined ? {} : { other_config: links.marks }),
      ...(links.session === undefined ? {} : { session: links.session }),
      ...(links.subtaskOf === undefined ? {} : { subtask_of: links.subtaskOf }),
    });
  }

  /** Marks the task as being worked on. */
  start(ref: string): TaskContext {
    const task = new RunningTask(this, ref);
    this.#running.set(ref, task);
    this.write(ref, { allowed_operations: ["cancel"] });
    return task;
  }

  /** Writes as XAPI orders them, status last [taskHelper.ml:198-297]. @param result an XML-RPC fragment */
  succeed(ref: string, result: string): void {
    this.#running.delete(ref);
    this.write(ref, { allowed_operations: [] });
    this.write(ref, { finished: toDatetime(this.#clock.now()) });
    this.write(ref, { progress: 1 });
    this.write(ref, { result });
    this.write(ref, { status: "success" });
    this.#collect(ref);
  }

  fail(ref: string, failure: XapiFailure): void {
    const cancelled = this.#running.get(ref)?.signal.aborted === true;
    this.#running.delete(ref);
    this.write(ref, { allowed_operations: [] });
    this.write(ref, { progress: 1 });
    this.write(ref, { error_info: [failure.code, ...failure.params] });
    this.write(ref, { finished: toDatetime(this.#clock.now()) });
    this.write(ref, {
      status:
        cancelled && failure.code === "TASK_CANCELLED"
          ? "cancelled"
          : "failure",
    });
    this.#collect(ref);
  }

  #collect(ref: string): void {
    if (this.#destroyedAtEnd.delete(ref) && this.#db.find("task", ref))
      this.#db.destroy("task", ref);
  }

  /** @throws XapiFailure HANDLE_INVALID */
  cancel(ref: string): void {
    const record = this.#db.get("task", ref);
    if (record["status"] !== "pending") return;
    const task = this.#running.get(ref);
    if (task === undefined) {
      // No operation works on it: XAPI only records the request.
      const key = `DummyRef:|${this.#random.uuid()}|task.cancel`;
      this.write(ref, { current_operations: { [key]: "cancel" } });
      return;
    }
    this.write(ref, { status: "cancelling" });
    task.cancel();
  }

  /**
   * Of a pending task XAPI only records the request: the task stays until it ends
   * (or until it is collected after a day).
   *
   * @throws XapiFailure HANDLE_INVALID
   */
  destroy(ref: string): void {
    const { status } = this.#db.get("task", ref);
    if (status !== "pending" && status !== "cancelling") {
      this.#db.destroy("task", ref);
      return;
    }
    this.#destroyedAtEnd.add(ref);
    const key = `DummyRef:|${this.#random.uuid()}|task.destroy`;
    this.write(ref, { current_operations: { [key]: "destroy" } });
  }

  /** The task may be deleted: its creator can destroy it at any time. */
  write(ref: string, patch: Parameters<Database["update"]>[2]): void {
    if (this.#db.find("task", ref) !== undefined)
      this.#db.update("task", ref, patch);
  }

  /** Deletes old tasks periodically, until `stop`. */
  startSweeping(): void {
    this.#sweep = this.#clock.setTimeout(() => {
      this.sweep();
      this.startSweeping();
    }, SWEEP_EVERY_MS);
  }

  sweep(): void {
    const now = this.#clock.now();
    for (const [ref, record] of [...this.#db.records("task")]) {
      const pending = record["status"] === "pending";
      const since = record[pending ? "created" : "finished"] as string;
      const limit = pending ? PENDING_KEPT_MS : FINISHED_KEPT_MS;
      if (now - parseDatetime(since) > limit) this.#db.destroy("task", ref);
    }
  }

  stop(): void {
    this.#clock.clearTimeout(this.#sweep);
    for (const task of this.#running.values()) task.cancel();
  }
}

/** `20261121T03:54:40Z` as milliseconds. */
function parseDatetime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T/, "$1-$2-$3T"));
}
