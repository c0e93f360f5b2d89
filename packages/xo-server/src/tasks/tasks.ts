import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Task } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import { CancelChecks } from "./cancel-checks.js";
import { pause } from "./pause.js";
import type { Logger } from "../log/logger.js";
import { OtherServerTasks } from "./other-server-tasks.js";
import {
  RunningTask,
  type RunningTaskOptions,
  type TaskSubject,
} from "./running-task.js";
import { StepJournal } from "./step-journal.js";
import { mayRead, type TaskListener, type TaskReader } from "./task-changes.js";
import { TaskListeners } from "./task-listeners.js";
import { TaskJournal } from "./task-journal.js";
import type { TaskQuery } from "./task-query.js";
import type { TaskStore } from "./task-store.js";
import { toView, type TaskView } from "./task-view.js";
import type { TaskContext } from "./task-context.js";

interface TasksOptions extends Pick<RunningTaskOptions, "canResume"> {
  readonly store: TaskStore;
  /** Default: XAPI tasks are not found again after a restart. */
  readonly steps?: StepJournal;
  /** Whether other servers have tasks in the same database. */
  readonly isShared?: boolean;
  /** Distinguishes tasks of this server from those of others. */
  readonly owner: string;
  /** The current lease on the tasks of this server; absent: there is only one server. */
  readonly lease?: () => HeldLease;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/** A pending task of the previous run. */
export interface PendingTask {
  readonly task: RunningTask;
  /** @param how sets the status of the task */
  readonly end: (how: () => void) => void;
}

/** Interval of reading the database for tasks of other servers, in ms. */
const POLL_MS = 1_000;
/** Number of rows of a list that are read at a time. */
const PAGE = 250;

/** Tasks that clients can follow and cancel. */
export class Tasks {
  readonly #options: TasksOptions;
  readonly #running = new Map<
    string,
    { readonly task: RunningTask; readonly ended: Promise<void> }
  >();
  /** The leases of tasks that have ended here, but not in the database. */
  readonly #dropped = new Map<string, HeldLease>();
  readonly #journal: TaskJournal;
  readonly #foreign: OtherServerTasks;
  readonly #steps: StepJournal;
  readonly #listeners: TaskListeners;
  /** Absent: there is only one server. */
  readonly #cancelChecks: CancelChecks | undefined;
  #isLeaving = false;

  constructor(options: TasksOptions) {
    this.#options = options;
    this.#journal = new TaskJournal(options);
    this.#steps = options.steps ?? StepJournal.nowhere();
    this.#listeners = new TaskListeners({
      clock: options.clock,
      isRunning: (id) => this.#running.has(id),
    });
    this.#cancelChecks =
      options.isShared === true
        ? new CancelChecks({ ...options, running: this.#running })
        : undefined;
    this.#foreign = new OtherServerTasks({
      ...options,
      notify: (change) => {
        this.#listeners.notify(change);
      },
    });
  }

  /** Prepares a task. Clients see it when `follow` is called. */
  prepare(subject: TaskSubject): RunningTask {
    return new RunningTask(subject, this.#runningOptions);
  }

  get #runningOptions(): RunningTaskOptions {
    return {
      ...this.#options,
      steps: this.#steps,
      onChange: (task) => {
        if (!this.#running.has(task.id)) return;
        this.#listeners.notifySoon(task);
        if (task.node.status === "pending") this.#journal.writeLater(task);
      },
      // A task that is only prepared is persisted by `follow`.
      onKeep: async (task) => {
        const isLost = task.lease?.isLost === true;
        if (!isLost && !this.#running.has(task.id)) return;
        if (isLost || !(await this.#journal.writeDurably(task)))
          throw new XoError("TASK_TAKEN_OVER", { id: task.id });
      },
    };
  }

  /**
   * Loads the tasks that the previous run of this server left pending. They
   * stay pending until `end` is called for each.
   * @param isInterrupted of the id of a pending task; default: all
   * @throws XoError STORE_UNAVAILABLE
   */
  async loadInterrupted(
    isInterrupted: (id: string) => boolean = () => true,
  ): Promise<readonly PendingTask[]> {
    const { store, owner } = this.#options;
    const interrupted: PendingTask[] = [];
    let page: readonly Task[] = [];
    do {
      page = await store.listPending(owner, page.at(-1)?.id);
      interrupted.push(
        ...this.load(page.filter(({ id }) => isInterrupted(id))),
      );
    } while (page.length > 0);
    return interrupted;
  }

  /**
   * Loads tasks that were dropped when this server lost its lease, and that no other
   * server has adopted. @throws XoError STORE_UNAVAILABLE
   */
  async loadDropped(): Promise<readonly PendingTask[]> {
    // With a valid lease the end is being written.
    const lost = [...this.#dropped].filter(([, lease]) => lease.isLost);
    if (lost.length === 0) return [];
    const dropped = new Map(lost);
    const loaded = await this.loadInterrupted((id) => dropped.has(id));
    for (const id of dropped.keys()) this.#dropped.delete(id);
    return loaded;
  }

  /**
   * Loads those of the tasks that this server owns and does not have: it has adopted them, but
   * has not received the answer. @throws XoError STORE_UNAVAILABLE
   */
  loadAdopted(ids: readonly string[]): Promise<readonly PendingTask[]> {
    return this.loadInterrupted(
      (id) => ids.includes(id) && !this.#running.has(id),
    );
  }

  /** Loads tasks that this server has adopted from another one, like those of its previous run. */
  load(adopted: readonly Task[]): readonly PendingTask[] {
    return adopted.map((task) => this.#loadInterruptedOne(task));
  }

  #loadInterruptedOne(before: Task): PendingTask {
    const task = RunningTask.restore(before, this.#runningOptions);
    let end: PendingTask["end"] = () => undefined;
    const decided = new Promise<() => void>((resolve) => (end = resolve));
    this.#running.set(task.id, { task, ended: this.#endOf(task, decided) });
    this.#cancelChecks?.schedule();
    if (toView(before).abortionRequestedAt !== undefined) task.abort();
    return { task, end };
  }

  /**
   * Runs code as a task that clients can follow.
   * @returns when the start of the task is persisted; the result is that of `outcomeOf`
   */
  async run<T>(
    subject: TaskSubject,
    run: (work: TaskContext) => Promise<T>,
  ): Promise<{ readonly id: string; readonly result: Promise<T> }> {
    const task = this.prepare(subject);
    const result = run(task.node);
    await this.follow(task, result);
    return { id: task.id, result: this.outcomeOf(task, result) };
  }

  /**
   * Settles as the result of the task does, but when its end is in the database: before that, another
   * server that adopts the task may undo what was done.
   * @throws XoError TASK_TAKEN_OVER
   */
  async outcomeOf<T>(task: RunningTask, result: Promise<T>): Promise<T> {
    if (task.lease === undefined) return result;
    // It is awaited below; this handler prevents an unhandled rejection until then.
    result.catch(() => undefined);
    if (await task.isStored) return result;
    throw new XoError("TASK_TAKEN_OVER", { id: task.id });
  }

  /**
   * Makes a task visible to clients, and completes it with the result.
   * @returns when its start is persisted; if not, one of several servers aborts it: none could adopt it
   * @throws XoError STORE_UNAVAILABLE, LEASE_LOST
   */
  async follow(task: RunningTask, result: Promise<unknown>): Promise<void> {
    const begun = this.#journal.write(task);
    const decided = result.then(
      (value) => () => {
        task.node.succeed(value);
      },
      (error: unknown) => () => {
        task.node.fail(error as Error);
      },
    );
    this.#running.set(task.id, { task, ended: this.#endOf(task, decided) });
    this.#listeners.notifyUpdate(task);
    this.#cancelChecks?.schedule();
    const problem = await begun;
    if (problem === undefined || task.lease === undefined) return;
    task.abort();
    throw problem;
  }

  /**
   * @param wait until the task is not pending any more, or the signal is aborted
   * @returns undefined: there is no such task, or it belongs to another user
   */
  async get(
    id: string,
    reader: TaskReader,
    wait?: { readonly signal: AbortSignal },
  ): Promise<TaskView | undefined> {
    const running = this.#running.get(id);
    if (running === undefined) return this.#getStored(id, reader, wait);
    const { task, ended } = running;
    if (!mayRead(reader, task.subject)) return undefined;
    if (wait !== undefined) await ended;
    return wait !== undefined && task.lease?.isLost === true
      ? this.#getStored(id, reader, wait)
      : task.node.view();
  }

  /** Tasks, newest first; pages are read on demand. */
  async *list(
    reader: TaskReader,
    about: TaskQuery = {},
  ): AsyncGenerator<readonly TaskView[], void, void> {
    const mine = reader.isAdmin ? {} : { userId: reader.id };
    let cursor: string | undefined;
    do {
      const page = await this.#options.store.list({
        limit: PAGE,
        ...about,
        ...mine,
        ...(cursor === undefined ? {} : { cursor }),
      });
      yield page.tasks.map((task) => this.#viewOf(task));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Number of pending tasks of all users and servers. */
  async countPending(): Promise<number> {
    let count = 0;
    const all = { id: "", isAdmin: true };
    for await (const page of this.list(all, { status: "pending" }))
      count += page.length;
    return count;
  }

  /**
   * Cancels a task. A task of another server is cancelled within a second.
   * @throws XoError NO_SUCH_OBJECT, FORBIDDEN_OPERATION: it has ended
   */
  async abort(id: string, reader: TaskReader): Promise<void> {
    const here = this.#running.get(id)?.task;
    const found = await this.get(id, reader);
    if (found === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "task", id });
    if (found.status !== "pending") throw notPending(id);
    if (here !== undefined) here.abort();
    else if (!(await this.#options.store.askToAbort(id))) throw notPending(id);
  }

  /** @throws XoError NO_SUCH_OBJECT, FORBIDDEN_OPERATION: it runs here */
  async delete(id: string, reader: TaskReader): Promise<void> {
    const found = await this.get(id, reader);
    if (found === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "task", id });
    if (this.#running.has(id))
      throw new XoError("FORBIDDEN_OPERATION", {
        operation: "delete task",
        reason: "it is pending; abort it first",
      });
    await this.#options.store.delete(id);
    const { userId } = (found["properties"] ?? {}) as { userId?: string };
    this.#listeners.notify({ kind: "remove", id, userId });
  }

  /**
   * Deletes ended tasks.
   * @returns their number
   */
  async deleteEnded(reader: TaskReader): Promise<number> {
    const deleted = await this.#options.store.deleteEnded(
      reader.isAdmin ? undefined : reader.id,
    );
    for (const { id, userId } of deleted)
      this.#listeners.notify({ kind: "remove", id, userId });
    return deleted.length;
  }

  /** @returns a function that unsubscribes @throws XoError QUEUE_FULL */
  watch(listener: TaskListener): () => void {
    this.#listeners.add(listener);
    if (this.#options.isShared === true) this.#foreign.start();
    return () => {
      this.#listeners.remove(listener);
      if (this.#listeners.isEmpty) this.#foreign.stop();
    };
  }

  /**
   * The server is stopping: running tasks stay pending in the database, and
   * are loaded at the next start.
   */
  async suspendAll(): Promise<void> {
    this.#isLeaving = true;
    await this.#steps.close();
    const running = [...this.#running.values()];
    await Promise.all(running.map(({ task }) => this.#journal.write(task)));
  }

  async #endOf(task: RunningTask, decided: Promise<() => void>): Promise<void> {
    let end: () => void;
    try {
      end = await (task.lease?.whileHeld(decided) ?? decided);
    } catch {
      // Another server may have adopted the task: nothing about it is written here any more.
      this.#drop(task);
      if (this.#running.delete(task.id)) this.#journal.drop(task);
      task.setStored(false);
      return;
    }
    if (this.#isLeaving) return task.setStored(false);
    end();
    const problem = await this.#journal.writeEnd(task);
    this.#running.delete(task.id);
    // The task is pending in the database: the server that continues it needs the steps.
    if (problem === undefined) {
      task.setStored(true);
      await this.#steps.forget(task.id);
    } else if (task.lease !== undefined) {
      this.#drop(task);
      const isStored = await this.#journal.writeDurably(task);
      if (isStored) this.#dropped.delete(task.id);
      task.setStored(isStored);
    }
  }

  #drop({ id, lease }: RunningTask): void {
    if (lease !== undefined) this.#dropped.set(id, lease);
  }

  stop(): void {
    this.#journal.stop();
    this.#listeners.stop();
    this.#foreign.stop();
    this.#cancelChecks?.stop();
  }

  async #getStored(
    id: string,
    reader: TaskReader,
    wait: { readonly signal: AbortSignal } | undefined,
  ): Promise<TaskView | undefined> {
    const { store, owner, clock, isShared = false } = this.#options;
    for (;;) {
      const task =
        this.#journal.unwritten(id)?.toTask() ?? (await store.get(id));
      if (task === undefined || !mayRead(reader, task)) return undefined;
      const isHere = task.owner === owner && !isShared;
      const ends = task.status !== "pending" || isHere;
      if (ends || wait === undefined || wait.signal.aborted)
        return toView(task);
      await pause(clock, POLL_MS, wait.signal);
    }
  }

  #viewOf(stored: Task): TaskView {
    const task =
      this.#running.get(stored.id)?.task ?? this.#journal.unwritten(stored.id);
    return task?.node.view() ?? toView(stored);
  }
}

function notPending(id: string): XoError {
  return new XoError("FORBIDDEN_OPERATION", {
    operation: "abort task",
    reason: `task ${id} is not pending`,
  });
}
