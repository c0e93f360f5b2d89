import {
  effectScope,
  onScopeDispose,
  shallowRef,
  type EffectScope,
  type ShallowRef,
} from "vue";
import { useServer, type Server } from "../live/use-server.js";
import type { TaskItem } from "./task.js";
import { TaskBook } from "./task-book.js";

export type EndListener = (ended: readonly TaskItem[]) => void;

export interface OurTasks {
  /** The newest first; undefined before they are known. */
  readonly tasks: Readonly<ShallowRef<readonly TaskItem[] | undefined>>;
  /** The server's words, where it does not tell them. */
  readonly error: Readonly<ShallowRef<string | undefined>>;
  /** Hears of those that end from now on, until the scope ends. */
  readonly onEnded: (listener: EndListener) => void;
}

interface Shared {
  readonly scope: EffectScope;
  readonly ours: Omit<OurTasks, "onEnded">;
  readonly listeners: Set<EndListener>;
  users: number;
}

let shared: Shared | undefined;

/** Our tasks, live: one subscription for the whole page, while anything of it shows tasks. */
export function useTasks(): OurTasks {
  const server = useServer();
  const used = (shared ??= follow(server));
  used.users++;
  onScopeDispose(() => {
    if (--used.users > 0) return;
    used.scope.stop();
    if (shared === used) shared = undefined;
  });
  return {
    ...used.ours,
    onEnded(listener) {
      used.listeners.add(listener);
      onScopeDispose(() => used.listeners.delete(listener));
    },
  };
}

function follow(server: Server): Shared {
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

  async function begin(): Promise<void> {
    try {
      await server.call("task.subscribe");
      show(book.reset(await server.call("task.list", { limit: 200 })));
    } catch (reason) {
      error.value = (reason as Error).message;
    }
  }

  scope.run(() => {
    server.onNotification("task", (news) => {
      const isReset = (news as { reset?: boolean } | null)?.reset === true;
      if (isReset) void begin();
      else show(book.take(news));
    });
    server.whenOpen(() => void begin());
  });
  return { scope, listeners, users: 0, ours: { tasks, error } };
}
