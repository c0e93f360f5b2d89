import { AsyncLocalStorage } from "node:async_hooks";
import type { Xapi } from "@xo-server/xen-api";
import { objectOfParams } from "./xapi-task.js";
import type { TaskContext } from "./task-context.js";

const works = new AsyncLocalStorage<TaskContext>();

/** Pieces of work that somebody follows, now. */
let followedNow = 0;

/**
 * Does something as part of a piece of work: the pool's tasks that it begins
 * are parts of it. While any is followed, every promise of the process costs
 * about twice as much (Node 20 looks at each); otherwise none does.
 */
export function inWork<T>(work: TaskContext, run: () => T): T {
  if (work.taskId === undefined)
    return followedNow === 0 ? run() : works.run(work, run);
  followedNow++;
  try {
    const result = works.run(work, run);
    if (!(result instanceof Promise)) {
      ended();
      return result;
    }
    return result.finally(ended) as T;
  } catch (error) {
    ended();
    throw error;
  }
}

function ended(): void {
  if (--followedNow === 0) works.disable();
}

/**
 * A pool whose tasks show, with their progress, in the work that they are done
 * for, are cancelled with it, and are found again when the server has died.
 * @param pool its id
 */
export function followed(xapi: Xapi, pool: string): Xapi {
  const work = works.getStore();
  if (work?.taskId === undefined) return xapi;
  const own: Pick<Xapi, "callAsync" | "watchTask"> = {
    callAsync: (method, params, options) =>
      work.runXapiTask(
        `XAPI: ${method}`,
        { pool, method, ...toObject(params) },
        (part, log) =>
          xapi.callAsync(method, params, {
            ...merge(part, options),
            onTask: (ref) => {
              log.noteReference(ref);
            },
            keepUntil: log.persisted,
          }),
      ),
    watchTask: (task, options) =>
      work.runXapiTask(
        "XAPI: a transfer",
        { pool, method: "a transfer", ref: task, isStream: true },
        (part) => xapi.watchTask(task, merge(part, options)),
      ),
  };
  return new Proxy(xapi, {
    get(target, key) {
      const value: unknown = Object.hasOwn(own, key)
        ? Reflect.get(own, key)
        : Reflect.get(target, key, target);
      return typeof value === "function" && !Object.hasOwn(own, key)
        ? (value.bind(target) as unknown)
        : value;
    },
  });
}

function toObject(params: readonly unknown[] | undefined) {
  const object = objectOfParams(params);
  return object === undefined ? {} : { object };
}

type Options = NonNullable<Parameters<Xapi["watchTask"]>[1]>;

function merge(part: TaskContext, options: Options = {}): Options {
  const { signal, onProgress } = options;
  return {
    ...options,
    signal:
      signal === undefined
        ? part.signal
        : AbortSignal.any([signal, part.signal]),
    onProgress(fraction) {
      part.progress(fraction);
      onProgress?.(fraction);
    },
  };
}
