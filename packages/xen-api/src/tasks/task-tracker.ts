import { type Logger, type MonotonicClock, pause } from "@xo-server/kit";
import { XapiError, XoError, type RecordBatch } from "@xo-server/model";
import type { CallExecutor } from "../calls/call-executor.js";
import { toDeclaredType } from "../calls/declared-type.js";
import type { EventPacing } from "../events/event-pacing.js";
import { isFinal, tasksIn, toTaskState, type TaskState } from "./task-state.js";
import type { MarkedTasks } from "./marked-tasks.js";
import { TaskWatcher, type WatchRequest } from "./task-watcher.js";
import { parseXmlFragment } from "../xmlrpc-value.js";

interface TaskTrackerOptions {
  readonly executor: CallExecutor;
  readonly pacing: EventPacing;
  readonly marked: MarkedTasks;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  readonly label: string;
  readonly callTimeoutMs: number;
  readonly eventTimeoutMs: number;
  readonly eventGraceMs: number;
  readonly cancelGraceMs: number;
}

/** Interval at which watched tasks are read, in ms: XAPI can drop events of deletions, and a restarted toolstack loses its tasks without events. */
const CHECK_INTERVAL_MS = 60_000;
/** Ended tasks cached for a later `watch`; most belong to other clients. */
const MAX_ENDED_TASKS = 1_000;
/** Pause after a failed poll, in ms. */
const POLL_RETRY_MS = 1_000;

/**
 * Tracks tasks until they end. While the client has an event stream that
 * includes tasks, that stream is the source; otherwise this class polls
 * event.from for the watched tasks, with one call for all of them.
 */
export class TaskTracker {
  readonly #options: TaskTrackerOptions;
  readonly #watchers = new Map<string, Set<TaskWatcher>>();
  /** Tasks that ended before `watch` was called, by reference. */
  readonly #ended = new Map<string, TaskState>();
  #eventSources = 0;
  #poll: AbortController | undefined;
  #checkTimer: unknown;

  constructor(options: TaskTrackerOptions) {
    this.#options = options;
  }

  /** An event stream that includes tasks starts. @returns a function to call when the stream ends */
  addEventSource(): () => void {
    this.#eventSources++;
    this.#poll?.abort();
    // A task that ended before the stream started causes no event.
    this.#checkAll();
    return () => {
      this.#eventSources--;
      this.#restartPoll();
    };
  }

  /** Processes the events of one batch. */
  applyBatch(batch: RecordBatch): void {
    for (const task of tasksIn(batch)) {
      const { ref, state } = task;
      if (this.#watchers.has(ref)) this.#update(ref, state);
      else if (state !== undefined && isFinal(state))
        this.#cacheEnded(ref, state);
      // Callers that wait for the task are notified of its end.
      this.#options.marked.report(task);
    }
  }

  #cacheEnded(ref: string, state: TaskState): void {
    this.#ended.set(ref, state);
    if (this.#ended.size > MAX_ENDED_TASKS)
      this.#ended.delete(this.#ended.keys().next().value!);
  }

  /**
   * To be called after a login: the toolstack may have lost its tasks, or the database may have
   * been restored.
   */
  onNewSession(): void {
    this.#checkAll();
    this.#restartPoll();
  }

  /** Rejects all watches: the client is closed. */
  close(reason: XoError): void {
    for (const all of [...this.#watchers.values()])
      for (const task of [...all]) task.fail(reason);
  }

  /** True: the end of every task created from now on arrives as an event. */
  get hasEventSource(): boolean {
    return this.#eventSources > 0;
  }

  /**
   * Waits for the end of a task. @returns the decoded result
   * @param isNew the task was created while there was an event source: no event can have been missed
   * @throws XapiError of the task; XoError TASK_LOST, ABORTED, CLOSED, BAD_ANSWER
   */
  async watch(request: WatchRequest, isNew = false): Promise<unknown> {
    const { signal } = request.options;
    const task = this.#register(request, isNew);
    const onEnd = this.#options.pacing.expectTask();
    const cancel = () => {
      void this.#cancel(task);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      return await this.#decode(await task.result, request);
    } finally {
      onEnd();
      signal?.removeEventListener("abort", cancel);
    }
  }

  #register(request: WatchRequest, isNew: boolean): TaskWatcher {
    const { ref } = request;
    const task = new TaskWatcher(request, this.#options.clock, (settled) => {
      const all = this.#watchers.get(ref);
      all?.delete(settled);
      if (all?.size === 0) this.#watchers.delete(ref);
      if (this.#watchers.size === 0) this.#stop();
    });
    const all = this.#watchers.get(ref) ?? new Set();
    this.#watchers.set(ref, all.add(task));
    this.#checkTimer ??= this.#armCheck();
    const ended = this.#ended.get(ref);
    this.#ended.delete(ref);
    if (ended !== undefined) task.update(ended);
    // The task may have ended before this watch.
    else if (!isNew || !this.hasEventSource) void this.#check(ref);
    this.#restartPoll();
    return task;
  }

  async #decode(
    result: string,
    { method, resultType }: WatchRequest,
  ): Promise<unknown> {
    if (result === "") return "";
    try {
      return toDeclaredType(await parseXmlFragment(result), resultType);
    } catch (error) {
      const reason = `the result of ${method}: ${error instanceof Error ? error.message : ""}`;
      const start = JSON.stringify(result.slice(0, 64));
      throw new XoError("BAD_ANSWER", {
        address: this.#options.label,
        reason,
        start,
      });
    }
  }

  #update(ref: string, state: TaskState | undefined): void {
    for (const task of [...(this.#watchers.get(ref) ?? [])]) task.update(state);
  }

  #armCheck(): unknown {
    return this.#options.clock.setTimeout(() => {
      this.#checkAll();
      this.#checkTimer = this.#armCheck();
    }, CHECK_INTERVAL_MS);
  }

  #checkAll(): void {
    for (const ref of this.#watchers.keys()) void this.#check(ref);
  }

  async #check(ref: string): Promise<void> {
    try {
      const record = await this.#call("task.get_record", [ref]);
      this.#update(ref, toTaskState(record));
    } catch (error) {
      // The task no longer exists. Other errors reveal nothing about the task.
      if (error instanceof XapiError && error.code === "HANDLE_INVALID")
        this.#update(ref, undefined);
    }
  }

  async #cancel(task: TaskWatcher): Promise<void> {
    const { cancelGraceMs, logger, label } = this.#options;
    const { ref, method } = task.request;
    task.failAfter(cancelGraceMs);
    await this.#call("task.cancel", [ref]).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : "";
      logger.info(`${label}: ${method} could not be cancelled: ${reason}`);
    });
  }

  /** Stops timer and poll: no task is watched. */
  #stop(): void {
    this.#options.clock.clearTimeout(this.#checkTimer);
    this.#checkTimer = undefined;
    this.#poll?.abort();
  }

  /** Polls for the watched tasks unless there is an event source. Restarts a blocked call, which does not include a task just added. */
  #restartPoll(): void {
    this.#poll?.abort();
    if (this.#eventSources > 0 || this.#watchers.size === 0) return;
    this.#poll = new AbortController();
    void this.#pollTasks(this.#poll.signal, [...this.#watchers.keys()]);
  }

  async #pollTasks(
    signal: AbortSignal,
    refs: readonly string[],
  ): Promise<void> {
    let token = "";
    while (!signal.aborted) {
      try {
        token = await this.#pollOnce(signal, refs, token);
      } catch {
        // The call executor has reported the error to the session; poll again after a pause.
        await pause(this.#options.clock, POLL_RETRY_MS, signal);
        token = "";
      }
    }
  }

  async #pollOnce(
    signal: AbortSignal,
    refs: readonly string[],
    token: string,
  ): Promise<string> {
    const { executor, eventTimeoutMs, eventGraceMs } = this.#options;
    const { answer } = await executor.request({
      method: "event.from",
      params: [refs.map((ref) => `task/${ref}`), token, eventTimeoutMs / 1000],
      shape: "events",
      priority: "event",
      timeoutMs: eventTimeoutMs + eventGraceMs,
      isBlocking: true,
      signal,
      onBatch: (batch) => {
        this.applyBatch(batch);
      },
    });
    return answer.token ?? token;
  }

  #call(method: string, params: readonly unknown[]): Promise<unknown> {
    const { executor, callTimeoutMs: timeoutMs } = this.#options;
    return executor.value({ method, params, priority: "call", timeoutMs });
  }
}
