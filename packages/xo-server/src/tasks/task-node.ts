import type { WallClock } from "@xo-server/kit";
import type { Task } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import { XapiTaskLog } from "./xapi-task-log.js";
import {
  toXapiTaskEnd,
  toXapiTaskSuccess,
  type XapiTaskSubject,
} from "./xapi-task.js";
import type { StepWriter } from "./step-journal.js";
import { TaskParts } from "./task-parts.js";
import {
  bounded,
  toFailure,
  toName,
  toNote,
  toResult,
  type TaskNote,
  type TaskView,
} from "./task-view.js";
import type { TaskContext, TaskCounts } from "./task-context.js";

interface TaskNodeOptions {
  readonly id: string;
  /** Absent: this is the whole task. */
  readonly wholeId?: string;
  readonly properties: object;
  readonly signal: AbortSignal;
  readonly lease?: HeldLease | undefined;
  readonly clock: Pick<WallClock, "now">;
  readonly steps: StepWriter;
  readonly onChange: () => void;
  /** Resolves when the whole task is persisted. */
  readonly onKeep: () => Promise<void>;
  /** The task as it was when the server stopped. */
  readonly before?: TaskView;
  readonly kept?: object | undefined;
}

/** Maximum number of infos and warnings of a task; the oldest are dropped. */
const MAX_NOTES = 50;

/** A task or a part of one, while it runs: a tree. */
export class TaskNode implements TaskContext {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly #options: TaskNodeOptions;
  readonly #parts = new TaskParts<TaskNode>();
  readonly #infos: TaskNote[];
  readonly #warnings: TaskNote[];
  readonly #resumedAt: string;
  #partsCreated = 0;
  #status: Task["status"];
  #updatedAt: number;
  #endedAt: number | undefined;
  /** In whole percent. */
  #progress: number;
  #reportsProgress = false;
  #abortionRequestedAt: number | undefined;
  #counts: TaskCounts | undefined;
  #result: object | undefined;
  #persistedState: object | undefined;
  #declinesResume = false;

  constructor(options: TaskNodeOptions) {
    const { id, signal, clock, before, kept } = options;
    this.id = id;
    this.signal = signal;
    this.#options = options;
    this.#resumedAt = clock.now().toString(36);
    this.startedAt = before?.start ?? clock.now();
    this.#updatedAt = before?.updatedAt ?? this.startedAt;
    this.#endedAt = before?.end;
    this.#status = before?.status ?? "pending";
    this.#progress = before?.progress ?? 0;
    this.#infos = [...(before?.infos ?? [])];
    this.#warnings = [...(before?.warnings ?? [])];
    this.#abortionRequestedAt = before?.abortionRequestedAt;
    this.#counts = before?.counts;
    this.#result = before?.result;
    this.#persistedState = kept;
    for (const part of before?.tasks ?? []) this.#restorePart(part);
  }

  get taskId(): string {
    return this.id;
  }

  get wholeTaskId(): string {
    return this.#options.wholeId ?? this.id;
  }

  get isPatient(): boolean {
    return this.#options.wholeId !== undefined || this.#parts.size > 0;
  }

  get lease(): HeldLease | undefined {
    return this.#options.lease;
  }

  get status(): Task["status"] {
    return this.#status;
  }

  get updatedAt(): number {
    return this.#updatedAt;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** Whether a state was persisted, or none is needed, see `persistState` and `declineResume`. */
  get isPrepared(): boolean {
    return this.#persistedState !== undefined || this.#declinesResume;
  }

  /** Number of retained parts. */
  get size(): number {
    return this.#parts.size;
  }

  progress(fraction: number): void {
    this.#reportsProgress = true;
    this.#setProgress(fraction * 100);
  }

  info(message: string, data?: object): void {
    this.#note(this.#infos, message, data);
  }

  warn(message: string, data?: object): void {
    this.#note(this.#warnings, message, data);
  }

  reportCounts(counts: TaskCounts): void {
    this.#counts = counts;
    if (!this.#reportsProgress) this.#progress = this.#shareDone(counts);
    this.#changed();
  }

  part<T>(name: string, run: (part: TaskContext) => Promise<T>): Promise<T> {
    return this.addPart(name).run(run);
  }

  async runXapiTask<T>(
    name: string,
    subject: XapiTaskSubject,
    run: (part: TaskContext, log: XapiTaskLog) => Promise<T>,
  ): Promise<T> {
    const { steps, clock } = this.#options;
    const part = this.addPart(name);
    const log = new XapiTaskLog({ subject, part: part.id, steps, clock });
    return part.run(async () => {
      try {
        const result = await run(part, log);
        log.end(toXapiTaskSuccess(result));
        return result;
      } catch (error) {
        // The server is stopping, or another one has adopted the task: the next
        // owner finds the outcome of the XAPI task.
        if (steps.isClosed) return new Promise<never>(() => undefined);
        log.end(toXapiTaskEnd(error as Error));
        throw error;
      }
    });
  }

  persistState(state: object): Promise<void> {
    this.#persistedState = state;
    return this.#options.onKeep();
  }

  declineResume(): void {
    this.#declinesResume = true;
  }

  persistStep(key: string, state: object): Promise<void> {
    return this.#options.steps.put(key, state);
  }

  persistStepSoon(key: string, state: object): void {
    void this.#options.steps.putSoon(key, state);
  }

  /** @param id default: the next one */
  addPart(name: string, id = this.#nextId()): TaskNode {
    return this.#addPart({ id, properties: { name: toName(name) } });
  }

  /** Searches all parts, recursively. */
  find(id: string): TaskNode | undefined {
    for (const part of this.#parts) {
      const found = part.id === id ? part : part.find(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Runs the part; its status follows the promise. */
  async run<T>(run: (part: TaskContext) => Promise<T>): Promise<T> {
    try {
      const result = await run(this);
      // A string result of a step is an opaque reference, not an id; clients would take `result.id` for an id.
      this.succeed(typeof result === "string" ? undefined : result);
      return result;
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  succeed(result: unknown): void {
    this.#progress = 100;
    this.#end("success", toResult(result));
  }

  fail(error: Error): void {
    this.#end("failure", toFailure(error));
  }

  /** To be called when the server has stopped in the meantime and the task is not resumed. */
  interrupt(error: Error): void {
    this.interruptParts();
    this.#end("interrupted", toFailure(error));
  }

  /** Marks the parts that are still pending. */
  interruptParts(): void {
    for (const part of this.#parts) {
      part.interruptParts();
      if (part.status === "pending") part.#end("interrupted", undefined);
    }
  }

  /** Removes pending parts, because they are started again. */
  dropPendingParts(): void {
    for (const part of this.#parts)
      if (part.status === "pending") this.#parts.drop(part);
  }

  noteAbortion(): void {
    this.#abortionRequestedAt = this.#options.clock.now();
    this.#changed();
  }

  /** The body to store. It includes the persisted state, which clients do not see. */
  stored(): Readonly<Record<string, unknown>> {
    return {
      ...this.body(),
      ...(this.#persistedState === undefined
        ? {}
        : { kept: this.#persistedState }),
    };
  }

  /** The task without what is in columns of its row. */
  body(): Readonly<Record<string, unknown>> {
    const requestedAt = this.#abortionRequestedAt;
    return {
      properties: this.#options.properties,
      progress: this.#progress,
      ...(this.#counts === undefined ? {} : { counts: this.#counts }),
      infos: [...this.#infos],
      warnings: [...this.#warnings],
      tasks: Array.from(this.#parts, (part) => part.view()),
      ...(requestedAt === undefined
        ? {}
        : { abortionRequestedAt: requestedAt }),
      ...(this.#result === undefined ? {} : { result: this.#result }),
    };
  }

  view(): TaskView {
    return {
      id: this.id,
      status: this.#status,
      start: this.startedAt,
      updatedAt: this.#updatedAt,
      ...(this.#endedAt === undefined ? {} : { end: this.#endedAt }),
      ...this.body(),
    };
  }

  /**
   * After a restart, ids of parts differ from all previous ids, because the last
   * parts may not have been persisted.
   */
  #nextId(): string {
    const run = this.#options.before === undefined ? "" : `${this.#resumedAt}-`;
    return `${this.id}.${run}${++this.#partsCreated}`;
  }

  #restorePart(before: TaskView): void {
    const { id, properties = {} } = before;
    this.#addPart({ id, properties, before });
  }

  #addPart(
    own: Pick<TaskNodeOptions, "id" | "properties" | "before">,
  ): TaskNode {
    const { clock, signal, steps, lease } = this.#options;
    const part: TaskNode = new TaskNode({
      ...own,
      wholeId: this.wholeTaskId,
      signal,
      lease,
      clock,
      steps,
      // Only the operation as a whole is resumed, not a part.
      onKeep: () => Promise.resolve(),
      onChange: () => {
        this.#noteChange(part);
      },
    });
    this.#parts.add(part);
    if (own.before === undefined) this.#changed();
    return part;
  }

  #noteChange(part: TaskNode): void {
    if (part.#status !== "pending") this.#parts.noteEnd(part);
    else if (!this.#reportsProgress)
      this.#progress =
        this.#counts === undefined
          ? part.#progress
          : this.#shareDone(this.#counts);
    this.#changed();
  }

  /** Of a task with several items: what has ended, and the progress of the running parts, in whole percent. */
  #shareDone({ total, running, waiting }: TaskCounts): number {
    if (total === 0) return 100;
    let done = 100 * (total - running - waiting);
    for (const part of this.#parts)
      if (part.#status === "pending") done += part.#progress;
    return Math.min(100, Math.round(done / total));
  }

  #note(notes: TaskNote[], message: string, data: object | undefined): void {
    notes.push({
      message: toNote(message),
      ...(data === undefined ? {} : { data: bounded(data) }),
    });
    if (notes.length > MAX_NOTES) notes.shift();
    this.#changed();
  }

  #setProgress(percent: number): void {
    const whole = Math.round(Math.min(100, Math.max(0, percent)));
    if (Number.isNaN(whole) || whole === this.#progress) return;
    this.#progress = whole;
    this.#changed();
  }

  #end(status: Task["status"], result: object | undefined): void {
    this.#status = status;
    this.#endedAt = this.#options.clock.now();
    this.#result = result;
    this.#changed();
  }

  #changed(): void {
    this.#updatedAt = this.#options.clock.now();
    this.#options.onChange();
  }
}
