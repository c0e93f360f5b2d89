import type { Json } from "@xo-server/kit";
import { toTaskItem, type TaskItem } from "./task.js";

/** Notes and subtasks of a task, for its expanded row. */
export interface TaskDetails {
  readonly notes: TaskItem["notes"];
  readonly parts: TaskItem["parts"];
  readonly isLoading: boolean;
  /** The last request failed. */
  readonly error?: string;
}

export const noDetails: TaskDetails = {
  notes: [],
  parts: [],
  isLoading: false,
};

/** Minimum time between two requests, in ms. */
const PAUSE_MS = 1_000;

interface TaskDetailsOptions {
  /** Requests a whole task. */
  readonly get: (id: string) => Promise<Json>;
  readonly onChange: (details: TaskDetails) => void;
  readonly setTimeout?: (run: () => void, ms: number) => unknown;
  readonly clearTimeout?: (timer: unknown) => void;
}

/**
 * Reads the details of a task that was sent without them: at once, and again when it changes,
 * at most once a second.
 */
export class TaskDetailsReader {
  readonly #options: Required<TaskDetailsOptions>;
  #details = noDetails;
  /** The task as it was last passed in. */
  #task: TaskItem | undefined;
  /** The response is awaited: until then no other request is sent. */
  #timer: unknown;
  #hasChanged = false;

  constructor(options: TaskDetailsOptions) {
    this.#options = {
      setTimeout: (run, ms) => setTimeout(run, ms),
      clearTimeout: (timer) => {
        clearTimeout(timer as ReturnType<typeof setTimeout>);
      },
      ...options,
    };
  }

  /** @param task undefined: its row is collapsed */
  show(task: TaskItem | undefined): void {
    const isOther = this.#task?.id !== task?.id;
    this.#task = task;
    if (isOther) this.#stop();
    if (task === undefined) {
      this.#set(noDetails);
    } else if (task.omitted === 0) {
      this.#set({ ...noDetails, notes: task.notes, parts: task.parts });
    } else if (this.#timer === undefined) {
      void this.#read(task.id);
    } else {
      this.#hasChanged = true;
    }
  }

  stop(): void {
    this.#task = undefined;
    this.#stop();
  }

  #stop(): void {
    this.#options.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#hasChanged = false;
  }

  async #read(id: string): Promise<void> {
    this.#hasChanged = false;
    this.#timer = this.#options.setTimeout(() => {
      this.#timer = undefined;
      if (this.#hasChanged) this.show(this.#task);
    }, PAUSE_MS);
    if (this.#details.parts.length + this.#details.notes.length === 0)
      this.#set({ ...this.#details, isLoading: true });
    let details: TaskDetails;
    try {
      const { notes = [], parts = [] } =
        toTaskItem(await this.#options.get(id)) ?? {};
      details = { notes, parts, isLoading: false };
    } catch (error) {
      const { notes, parts } = this.#details;
      const { message } = error as Error;
      details = { notes, parts, isLoading: false, error: message };
    }
    if (this.#task?.id === id) this.#set(details);
  }

  #set(details: TaskDetails): void {
    this.#details = details;
    this.#options.onChange(details);
  }
}
