import { shallowRef, watch, type ShallowRef } from "vue";
import { useServer } from "../live/use-server.js";
import { toSelection } from "./selection.js";

const PAUSE_MS = 150;

/** How many objects a filter text finds; undefined while that is not known. */
export function useCount(
  requested: () => { readonly type: string; readonly text: string } | undefined,
): ShallowRef<number | undefined> {
  const { call } = useServer();
  const count = shallowRef<number>();
  watch(
    () => JSON.stringify(requested()),
    (_now, _before, onCleanup) => {
      const question = requested();
      if (question === undefined) return;
      const { type, text } = question;
      let isCurrent = true;
      const timer = setTimeout(() => {
        call("query.count", { type, ...toSelection(text, type) }).then(
          (answer) => {
            if (isCurrent) count.value = Number(answer);
          },
          () => {
            if (isCurrent) count.value = undefined;
          },
        );
      }, PAUSE_MS);
      onCleanup(() => {
        isCurrent = false;
        clearTimeout(timer);
      });
    },
    { immediate: true },
  );
  return count;
}
