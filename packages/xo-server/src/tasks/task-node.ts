import type { Task } from "@xo-server/store";
import type { Clock } from "../clock.js";
import { bounded, toFailure, toResult, type TaskView } from "./task-view.js";
import type { Work } from "./work.js";

export interface TaskNodeOptions {
  readonly id: string;
  readonly properties: object;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, "now">;
  readonly onChange: () => void;
  /** Resolves when the whole task is written down as it is. */
  readonly onKeep: () => Promise<void>;
}

interface Note {
  readonly message: string;
  readonly data?: object;
}

/** Parts, infos and warnings of one task that are kept; the oldest go. */
const MOST = 50;

/** A task or a part of one, while it runs: a tree. */
export class TaskNode implements Work {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly #options: TaskNodeOptions;
  readonly #parts: TaskNode[] = [];
  readonly #infos: Note[] = [];
  readonly #warnings: Note[] = [];
  #made = 0;
  #status: Task["status"] = "pending";
  #updatedAt: number;
  #endedAt: number | undefined;
  /** Whole percent. */
  #progress = 0;
  #tellsProgress = false;
  #abortionAskedAt: number | undefined;
  #result: object | undefined;
  #kept: object | undefined;

  constructor(options: TaskNodeOptions) {
    this.id = options.id;
    this.signal = options.signal;
    this.startedAt = options.clock.now();
    this.#updatedAt = this.startedAt;
    this.#options = options;
  }

  get taskId(): string {
    return this.id;
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

  progress(fraction: number): void {
    this.#tellsProgress = true;
    this.#setProgress(fraction * 100);
  }

  info(message: string, data?: object): void {
    this.#note(this.#infos, message, data);
  }

  warn(message: string, data?: object): void {
    this.#note(this.#warnings, message, data);
  }

  async part<T>(name: string, run: (part: Work) => Promise<T>): Promise<T> {
    const part = this.#addPart(name);
    try {
      const result = await run(part);
      // What a step gives as text is a reference of XAPI, never an id; clients take `result.id` for one.
      part.succeed(typeof result === "string" ? undefined : result);
      return result;
    } catch (error) {
      part.fail(error as Error);
      throw error;
    }
  }

  keep(state: object): Promise<void> {
    this.#kept = state;
    return this.#options.onKeep();
  }

  succeed(result: unknown): void {
    this.#progress = 100;
    this.#end("success", toResult(result));
  }

  fail(error: Error): void {
    this.#end("failure", toFailure(error));
  }

  noteAbortion(): void {
    this.#abortionAskedAt = this.#options.clock.now();
    this.#changed();
  }

  /** As `body`, with what nobody is shown. */
  stored(): Readonly<Record<string, unknown>> {
    return {
      ...this.body(),
      ...(this.#kept === undefined ? {} : { kept: this.#kept }),
    };
  }

  /** All but what the row of a task has columns for. */
  body(): Readonly<Record<string, unknown>> {
    const asked = this.#abortionAskedAt;
    return {
      properties: this.#options.properties,
      progress: this.#progress,
      infos: [...this.#infos],
      warnings: [...this.#warnings],
      tasks: this.#parts.map((part) => part.view()),
      ...(asked === undefined ? {} : { abortionRequestedAt: asked }),
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

  #addPart(name: string): TaskNode {
    const { clock, signal } = this.#options;
    const part = new TaskNode({
      id: `${this.id}.${++this.#made}`,
      properties: { name },
      signal,
      clock,
      // What a part keeps is not resumed: only the operation as a whole is.
      onKeep: () => Promise.resolve(),
      onChange: () => {
        if (!this.#tellsProgress && part.#status === "pending")
          this.#progress = part.#progress;
        this.#changed();
      },
    });
    this.#parts.push(part);
    if (this.#parts.length > MOST) this.#parts.shift();
    this.#changed();
    return part;
  }

  #note(notes: Note[], message: string, data: object | undefined): void {
    notes.push({
      message,
      ...(data === undefined ? {} : { data: bounded(data) }),
    });
    if (notes.length > MOST) notes.shift();
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
