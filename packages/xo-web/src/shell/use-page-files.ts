import { onScopeDispose, watch, type Ref } from "vue";
import { useRouter } from "vue-router";
import type { StatusView } from "../api/status-feed.js";
import {
  isOutdated,
  onFilesProgress,
  markFailedStyles,
  type FilesProgress,
} from "../browser/page-files.js";
import { useInitialLocale } from "../locale/use-locale.js";
import type { Toasts } from "../toasts/use-toasts.js";

/**
 * Reports parts of the page that cannot be loaded now, and after a reconnection that the
 * server was updated: the open page cannot load more of its own files then. The page is
 * reloaded by the user only, who may have typed something.
 */
export function usePageFiles(
  view: Readonly<Ref<StatusView>>,
  toasts: Toasts,
): void {
  const { text } = useInitialLocale();
  const router = useRouter();
  const events = new AbortController();
  onScopeDispose(() => {
    events.abort();
  });
  /** Number of parts that wait for the server. */
  let waiting = 0;
  /** Page that could not be opened. */
  let target: string | undefined;

  function offerReload(what: string, isBad: boolean): void {
    const { unsavedInput, reload } = text.value.shell;
    toasts.show({
      id: "page files",
      tone: isBad ? "bad" : "plain",
      text: what,
      detail: unsavedInput,
      isKept: true,
      action: {
        label: reload,
        run() {
          if (target !== undefined)
            history.replaceState(null, "", router.resolve(target).href);
          location.reload();
        },
      },
    });
  }

  function progressed(progress: FilesProgress): void {
    const { filesWaiting, filesWaitingDetail, filesMissing } = text.value.shell;
    const id = "waiting for files";
    waiting += progress === "waiting" ? 1 : -1;
    if (waiting === 0) toasts.dismiss(id);
    else
      toasts.show({
        id,
        tone: "busy",
        text: filesWaiting,
        detail: filesWaitingDetail,
      });
    if (progress === "missing") offerReload(filesMissing, true);
  }

  markFailedStyles(events.signal);
  onFilesProgress(progressed, events.signal);
  router.onError((_, to) => {
    target = to.fullPath;
  });
  router.afterEach((_to, _from, failure) => {
    if (failure === undefined) target = undefined;
  });

  let connections = 0;
  watch(
    () => view.value.live,
    async (isLive) => {
      if (!isLive || ++connections === 1) return;
      if (await isOutdated()) offerReload(text.value.shell.updated, false);
    },
  );
}
