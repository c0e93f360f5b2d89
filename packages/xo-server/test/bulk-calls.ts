import type { Test } from "tap";
import { StepJournal } from "../src/tasks/step-journal.js";
import { Tasks } from "../src/tasks/tasks.js";
import { FakeClock } from "./fake-clock.js";
import { fakeSeals } from "./fake-seals.js";
import { FakeStepStore } from "./fake-step-store.js";
import { FakeTaskStore } from "./fake-task-store.js";

export const ada = { id: "u", isAdmin: false };
export const quiet = { warn: () => undefined };
export const settle = () => new Promise(setImmediate);
export const wait: { readonly signal: AbortSignal } = {
  signal: new AbortController().signal,
};

export function setUp(t: Test) {
  const clock = new FakeClock();
  const store = new FakeTaskStore();
  const stepStore = new FakeStepStore();
  const steps = new StepJournal({
    store: stepStore.store,
    seals: fakeSeals,
    clock,
    logger: quiet,
  });
  const tasks = new Tasks({ store, steps, clock, owner: "o", logger: quiet });
  t.teardown(() => {
    tasks.stop();
  });
  return { clock, store, stepStore, steps, tasks };
}

export const many = (count: number) =>
  Array.from({ length: count }, (_, i) => `v${i}`);
