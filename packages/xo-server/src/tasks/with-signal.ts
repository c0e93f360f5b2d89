import type { TaskContext } from "./task-context.js";

/** The same task context with a further abort signal, also for subtasks. */
export function withSignal(work: TaskContext, other: AbortSignal): TaskContext {
  const own: Pick<TaskContext, "signal" | "part" | "runXapiTask"> = {
    signal: AbortSignal.any([work.signal, other]),
    part: (name, run) =>
      work.part(name, (part) => run(withSignal(part, other))),
    runXapiTask: (name, subject, run) =>
      work.runXapiTask(name, subject, (part, log) =>
        run(withSignal(part, other), log),
      ),
  };
  return new Proxy(work, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key) as unknown;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function"
        ? (value.bind(target) as unknown)
        : value;
    },
  });
}
