import {
  effectScope,
  onScopeDispose,
  provide,
  shallowRef,
  type EffectScope,
  type InjectionKey,
  type ShallowRef,
} from "vue";
import { injectRequired } from "../injection.js";
import type { Server } from "../live/use-server.js";
import type { TaskItem } from "./task.js";
import { TaskBook } from "./task-book.js";

type EndListener = (ended: readonly TaskItem[]) => void;

export interface ServerTasks {
  /** The newest first, without details; undefined before they are loaded. */
  readonly tasks: Readonly<ShallowRef<readonly TaskItem[] | undefined>>;
  /** The error of the server, if the tasks cannot be loaded. */
  readonly error: Readonly<ShallowRef<string | undefined>>;
  /** Notifies of tasks that end from now on, until the scope ends. */
  readonly onEnded: (listener: EndListener) => void;
}

interface Subscription {
  readonly scope: EffectScope;
  readonly tasks: Omit<ServerTasks, "onEnded">;
  readonly listeners: Set<EndListener>;
  users: number;
}

const key: InjectionKey<() => ServerTasks> = Symbol("server tasks");

/** One subscription to the tasks of the server, while any component uses them; for the root component. */
export function provideTasks(server: Server): void {
  let current: Subscription | undefined;
  provide(key, () => {
    const used = (current ??= subscribe(server));
    used.users++;
    onScopeDispose(() => {
      if (--used.users > 0) return;
      used.scope.stop();
      if (current === used) current = undefined;
    });
    return {
      ...used.tasks,
      onEnded(listener) {
        used.listeners.add(listener);
        onScopeDispose(() => used.listeners.delete(listener));
      },
    };
  });
}

/** The tasks of the server, live, until the scope ends. */
export function useTasks(): ServerTasks {
  return injectRequired(key)();
}

function subscribe(server: Server): Subscription {
  const book = new TaskBook();
  const tasks = shallowRef<readonly TaskItem[]>();
  const error = shallowRef<string>();
  const listeners = new Set<EndListener>();
  const scope = effectScope(true);

  function show(ended: readonly TaskItem[]): void {
    tasks.value = book.tasks;
    error.value = undefined;
    if (ended.length > 0) for (const listener of listeners) listener(ended);
  }

  async function load(): Promise<void> {
    try {
      await server.call("task.subscribe", { details: false });
      const params = { limit: 200, details: false };
      show(book.reset(await server.call("task.list", params)));
    } catch (reason) {
      error.value = (reason as Error).message;
    }
  }

  scope.run(() => {
    server.onNotification("task", (params) => {
      const isReset = (params as { reset?: boolean } | null)?.reset === true;
      if (isReset) void load();
      else show(book.take(params));
    });
    server.whenOpen(() => void load());
  });
  return { scope, listeners, users: 0, tasks: { tasks, error } };
}
