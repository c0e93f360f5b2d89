import { AsyncLocalStorage } from "node:async_hooks";
import type { Xapi } from "@xo-server/xen-api";
import type { Work } from "./work.js";

const works = new AsyncLocalStorage<Work>();

/** Does something as part of a piece of work: the pool's tasks that it begins are parts of it. */
export function inWork<T>(work: Work, run: () => T): T {
  return works.run(work, run);
}

/** A pool whose tasks show, with their progress, in the work that they are done for, and are cancelled with it. */
export function followed(xapi: Xapi): Xapi {
  const work = works.getStore();
  if (work?.taskId === undefined) return xapi;
  const own: Pick<Xapi, "callAsync" | "watchTask"> = {
    callAsync: (method, params, options) =>
      work.part(`XAPI: ${method}`, (part) =>
        xapi.callAsync(method, params, merge(part, options)),
      ),
    watchTask: (task, options) =>
      work.part("XAPI: a transfer", (part) =>
        xapi.watchTask(task, merge(part, options)),
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

type Options = NonNullable<Parameters<Xapi["watchTask"]>[1]>;

function merge(part: Work, options: Options = {}): Options {
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
