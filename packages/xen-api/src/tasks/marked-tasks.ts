import type { CallExecutor } from "../calls/call-executor.js";
import { toTaskMarks, type ReportedTask } from "./task-state.js";

/** Entries of the other_config of a task, by which its call is known. */
export type TaskMarks = Readonly<Record<string, string>>;

/** A call whose answer, the reference of its task, has not arrived. */
interface Expected {
  readonly marks: TaskMarks;
  readonly onFound: (ref: string) => void;
}

/** Time limit of reading all tasks, in ms. */
export const SEARCH_MS = 60_000;

/** Finds tasks by their marks: those of calls whose answers are lost. */
export class MarkedTasks {
  readonly #executor: Pick<CallExecutor, "value">;
  readonly #expected = new Set<Expected>();

  constructor(executor: Pick<CallExecutor, "value">) {
    this.#executor = executor;
  }

  /**
   * @param onFound called with the reference when events report a task with these marks
   * @returns a function that ends the wait
   */
  expect(marks: TaskMarks, onFound: (ref: string) => void): () => void {
    const expected = { marks, onFound };
    this.#expected.add(expected);
    return () => this.#expected.delete(expected);
  }

  /** Call with each task that events report. */
  report({ ref, marks }: ReportedTask): void {
    for (const { marks: requested, onFound } of this.#expected)
      if (includes(marks, requested)) onFound(ref);
  }

  /** Reads all tasks of the pool. @returns undefined: none has these marks. @throws XapiError, XoError */
  async search(
    marks: TaskMarks,
    timeoutMs = SEARCH_MS,
  ): Promise<string | undefined> {
    const all = (await this.#executor.value({
      method: "task.get_all_records",
      params: [],
      priority: "call",
      timeoutMs,
    })) as Readonly<Record<string, unknown>>;
    return Object.entries(all).find(([, task]) =>
      includes(toTaskMarks(task), marks),
    )?.[0];
  }
}

function includes(marks: TaskMarks, requested: TaskMarks): boolean {
  return Object.entries(requested).every(
    ([key, value]) => Object.hasOwn(marks, key) && marks[key] === value,
  );
}
