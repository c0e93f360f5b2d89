import type { Action } from "@xo-server/placement";
import { useRouter } from "vue-router";
import type { Json } from "@xo-server/kit";
import { errorMessage } from "../../actions/plan/error-message.js";
import { LONG_MS } from "../../actions/plan/run-plan.js";
import { useServer } from "../../live/use-server.js";
import { useLocale } from "../../locale/use-locale.js";
import { fill } from "../../locale/messages.js";
import { useToasts } from "../../toasts/use-toasts.js";
import { midwayOf } from "./apply-outcome.js";

/** Applies migrations of a plan as one task; a toast shows its progress. */
export function useApply(pool: string): {
  /** Resolves when the task has ended, also with a failure. */
  readonly run: (actions: readonly Action[]) => Promise<void>;
} {
  const { call } = useServer();
  const { text, formats } = useLocale();
  const toasts = useToasts();
  const router = useRouter();

  return {
    async run(actions) {
      const texts = text.value.placement;
      const action = {
        label: text.value.shell.pages.tasks,
        run: () => router.push("/tasks"),
      };
      const id = toasts.show({
        tone: "busy",
        action,
        text: formats.value.plural(texts.applying, actions.length),
      });
      try {
        const json = JSON.parse(JSON.stringify(actions)) as Json;
        await call("placement.apply", { pool, actions: json }, LONG_MS);
        const done = formats.value.plural(texts.applied, actions.length);
        toasts.show({ id, tone: "good", text: done, action });
      } catch (error) {
        const midway = midwayOf(error);
        const detail =
          midway === undefined
            ? errorMessage(error, text.value)
            : fill(texts.midway, { ...midway, vm: midway.vm ?? "" });
        toasts.show({
          id,
          tone: "bad",
          text: texts.notApplied,
          detail,
          action,
        });
      }
    },
  };
}
