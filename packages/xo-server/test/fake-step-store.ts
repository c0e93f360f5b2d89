import type { TaskStep } from "@xo-server/store";
import type { StepJournalOptions } from "../src/tasks/step-journal.js";

/** A store of steps in memory, that counts what it is asked to write. */
export class FakeStepStore {
  readonly rows = new Map<string, TaskStep>();
  puts = 0;
  written = 0;
  isUnreadable = false;

  get store(): StepJournalOptions["store"] {
    return {
      put: async (steps) => {
        this.puts++;
        this.written += steps.length;
        for (const step of steps)
          this.rows.set(`${step.taskId}/${step.key}`, structuredClone(step));
      },
      list: async (taskId, after = "") => {
        if (this.isUnreadable) throw new Error("gone");
        return [...this.rows.values()]
          .filter((step) => step.taskId === taskId && step.key > after)
          .sort((a, b) => (a.key < b.key ? -1 : 1))
          .slice(0, 100);
      },
      deleteOf: async (taskId) => {
        for (const [id, step] of this.rows)
          if (step.taskId === taskId) this.rows.delete(id);
      },
    };
  }
}
