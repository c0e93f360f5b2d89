import { onScopeDispose } from "vue";
import { useRouter } from "vue-router";
import { useServer } from "../live/use-server.js";
import { useLocale } from "../locale/use-locale.js";
import { useToasts } from "../toasts/use-toasts.js";
import { toastOf } from "./ended-text.js";
import type { TaskItem } from "./task.js";
import type { ServerTasks } from "./use-tasks.js";

/** Tasks that end within this time, in ms, share one toast. */
const GATHER_MS = 700;

/** Bulk operations and uploads: their caller follows them from the start. */
const haveToasts: ReadonlySet<string> = new Set([
  "bulk.run",
  "disk.import",
  "disk.importContent",
  "host.installSupplementalPack",
  "pool.importVm",
  "pool.installSupplementalPack",
  "vm.createMultiple",
  "vm.import",
]);

/**
 * Shows a toast for each task of the user that ends. Actions on several objects
 * have toasts of their own from the start.
 */
export function useEndedToasts({ onEnded }: ServerTasks): void {
  const { session } = useServer();
  const { text, formats } = useLocale();
  const { show } = useToasts();
  const router = useRouter();
  let gathered: TaskItem[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  onEnded((ended) => {
    const me = session.user.value?.id;
    gathered.push(
      ...ended.filter(
        (task) => task.userId === me && !haveToasts.has(task.operation ?? ""),
      ),
    );
    if (gathered.length > 0) timer ??= setTimeout(notify, GATHER_MS);
  });
  onScopeDispose(() => {
    clearTimeout(timer);
  });

  function notify(): void {
    timer = undefined;
    const toast = toastOf(gathered, text.value, formats.value);
    gathered = [];
    if (toast === undefined) return;
    const { runPath, ...content } = toast;
    const { tasks, shell } = text.value;
    const label = runPath === undefined ? shell.pages.tasks : tasks.showRun;
    const run = () => void router.push(runPath ?? "/tasks");
    show({ ...content, action: { label, run } });
  }
}
