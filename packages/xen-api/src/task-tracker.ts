import { XapiError, XoError, type RecordBatch } from "@xo-server/model";
import type { CallExecutor } from "./call-executor.js";
import { pause, type Clock } from "./clock.js";
import { toDeclaredType } from "./declared-type.js";
import type { Logger } from "./logger.js";
import { isFinal, tasksIn, toTaskState, type TaskState } from "./task-state.js";
import { TaskWatcher, type WatchRequest } from "./task-watcher.js";
import { parseXmlFragment } from "./xmlrpc-value.js";

export interface TaskTrackerOptions {
  readonly executor: CallExecutor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly label: string;
  readonly callTimeoutMs: number;
  readonly eventTimeoutMs: number;
  readonly eventGraceMs: number;
  readonly cancelGraceMs: number;
}

/** Tasks are asked for themselves this often, in ms: events of deletion can be dropped, and a restarted toolstack forgets its tasks without a word. */
const CHECK_INTERVAL_MS = 60_000;
/** Of tasks that others wait for, or nobody. */
const MAX_ENDED_TASKS = 1_000;
/** Pause after a failed poll of our own, in ms. */
const POLL_RETRY_MS = 1_000;

/**
 * Watches tasks to their end. While an event stream with tasks runs on the
 * client it feeds this; otherwise this polls event.from for the tasks it wants,
 * on one connection for all of them.
 */
export class TaskTracker {
  readonly #options: TaskTrackerOptions;
  readonly #watchers = new Map<string, Set<TaskWatcher>>();
  /** Of tasks that a feed told the end of before anybody asked. */
  readonly #ended = new Map<string, TaskState>();
  #eventSources = 0;
  #poll: AbortController | undefined;
  #checkTimer: unknown;

  constructor(options: TaskTrackerOptions) {
    this.#options = options;
  }

  /** An event stream that tells of tasks begins; call what is returned when it ends. */
  addEventSource(): () => void {
    this.#eventSources++;
    this.#poll?.abort();
    // What ended while nobody told of it is not told again.
    this.#checkAll();
    return () => {
      this.#eventSources--;
      this.#restartPoll();
    };
  }

  /** Events that a feed has brought. */
  applyBatch(batch: RecordBatch): void {
    for (const { ref, state } of tasksIn(batch))
      if (this.#watchers.has(ref)) this.#update(ref, state);
      else if (state !== undefined && isFinal(state))
        this.#cacheEnded(ref, state);
  }

  #cacheEnded(ref: string, state: TaskState): void {
    this.#ended.set(ref, state);
    if (this.#ended.size > MAX_ENDED_TASKS)
      this.#ended.delete(this.#ended.keys().next().value!);
  }

  /** There is a new session, perhaps with a pool that forgot its tasks or went back in time. */
  onNewSession(): void {
    this.#checkAll();
    this.#restartPoll();
  }

  /** Nothing will be heard any more. */
  close(reason: XoError): void {
    for (const all of [...this.#watchers.values()])
      for (const task of [...all]) task.fail(reason);
  }

  /** What is told from now on is enough to see the end of a task that is made later. */
  get hasEventSource(): boolean {
    return this.#eventSources > 0;
  }

  /**
   * The decoded result.
   * @param isNew it was made while a feed ran: what has been told of it is all there is
   * @throws XapiError of the task; XoError TASK_LOST, ABORTED, CLOSED, BAD_ANSWER
   */
  async watch(request: WatchRequest, isNew = false): Promise<unknown> {
    const { signal } = request.options;
    const task = this.#register(request, isNew);
    const cancel = () => {
      void this.#cancel(task);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      return await this.#decode(await task.result, request);
    } finally {
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
    // It may have ended before anybody listened.
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
      // A ghost. Other failures say nothing about the task.
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
      logger.info(`${label}: ${method} was not cancelled: ${reason}`);
    });
  }

  /** Nobody waits: no timer, no poll. */
  #stop(): void {
    this.#options.clock.clearTimeout(this.#checkTimer);
    this.#checkTimer = undefined;
    this.#poll?.abort();
  }

  /** Polls for the tasks wanted now, unless a feed tells of them. A call that is blocked already does not know of a task just added. */
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
