import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { useServer } from "../live/use-server.js";
import { TaskBook } from "./task-book.js";
import type { TaskItem } from "./task.js";
import { isSearch, toListParameters, type TaskSearch } from "./task-search.js";
import type { ServerTasks } from "./use-tasks.js";

/** Maximum number of results. */
const MAX_FOUND = 200;
/** Minimum delay between changes and a new request, in ms. */
const PAUSE_MS = 300;

interface FoundTasks {
  /** Undefined: no search, or the response is awaited. */
  readonly tasks: ShallowRef<readonly TaskItem[] | undefined>;
  /** Why the last search failed. */
  readonly error: ShallowRef<string | undefined>;
}

/** Tasks of the server that match, read again when tasks change. */
export function useTaskSearch(
  search: () => TaskSearch,
  live: ServerTasks["tasks"],
): FoundTasks {
  const { call, whenOpen } = useServer();
  const tasks = shallowRef<readonly TaskItem[]>();
  const error = shallowRef<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = 0;

  async function read(): Promise<void> {
    const request = ++latest;
    if (!isSearch(search())) {
      tasks.value = error.value = undefined;
      return;
    }
    try {
      const params = toListParameters(search(), MAX_FOUND);
      const answer = await call("task.list", { ...params, details: false });
      if (request !== latest) return;
      const book = new TaskBook();
      book.reset(answer);
      tasks.value = book.tasks;
      error.value = undefined;
    } catch (failure) {
      if (request === latest) error.value = (failure as Error).message;
    }
  }

  function readSoon(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void read(), PAUSE_MS);
  }

  watch(() => JSON.stringify(search()), readSoon);
  watch(live, () => {
    if (isSearch(search())) readSoon();
  });
  whenOpen(() => void read());
  onScopeDispose(() => {
    clearTimeout(timer);
    latest++;
  });
  return { tasks, error };
}
