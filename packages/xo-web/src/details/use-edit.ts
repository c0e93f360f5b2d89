import { computed, onScopeDispose, ref, shallowRef, watch } from "vue";
import { fill } from "../locale/messages.js";
import { useLocale } from "../locale/use-locale.js";
import { useToasts } from "../toasts/use-toasts.js";
import { reasonOf } from "./reason-of.js";

export interface EditOptions<T> {
  /** What the server tells. */
  readonly value: () => T;
  /** Name of what is edited. */
  readonly label: () => string;
  /** Resolves when the server has done it. */
  readonly save: (value: T) => Promise<unknown>;
}

/** The server tells of a change within its throttle pause; after this long what it tells is the truth again. */
const TELLS_WITHIN_MS = 10_000;

/**
 * A value that is edited in place. What was chosen is shown at once; when the
 * server refuses, the old value is back, with its words. What was done can be undone.
 */
export function useEdit<T>({ value, label, save }: EditOptions<T>) {
  const { text } = useLocale();
  const { show } = useToasts();
  const chosen = shallowRef<{ readonly value: T }>();
  const isSaving = ref(false);
  const hasFailed = ref(false);
  let timer: ReturnType<typeof setTimeout> | undefined;

  function forget(): void {
    clearTimeout(timer);
    chosen.value = undefined;
  }
  onScopeDispose(forget);
  // What comes from the server after it has saved is newer than what was chosen.
  watch(
    () => JSON.stringify(value()),
    () => {
      if (!isSaving.value) forget();
    },
  );

  async function change(after: T): Promise<boolean> {
    const before = value();
    if (JSON.stringify(before) === JSON.stringify(after)) return true;
    chosen.value = { value: after };
    isSaving.value = true;
    hasFailed.value = false;
    try {
      await save(after);
      timer = setTimeout(forget, TELLS_WITHIN_MS);
      sayDone(() => change(before));
      return true;
    } catch (error) {
      forget();
      hasFailed.value = true;
      sayFailed(error, () => change(after));
      return false;
    } finally {
      isSaving.value = false;
      if (JSON.stringify(value()) === JSON.stringify(after)) forget();
    }
  }

  function sayDone(undo: () => unknown): void {
    show({
      tone: "good",
      text: fill(text.value.details.changed, { what: label() }),
      action: { label: text.value.ui.undo, run: undo },
    });
  }

  function sayFailed(error: unknown, again: () => unknown): void {
    show({
      tone: "bad",
      text: fill(text.value.details.notChanged, { what: label() }),
      detail: reasonOf(error, text.value),
      action: { label: text.value.details.tryAgain, run: again },
    });
  }

  return {
    /** What was chosen and is not told yet, else what the server tells. */
    shown: computed(() =>
      chosen.value === undefined ? value() : chosen.value.value,
    ),
    isSaving,
    hasFailed,
    change,
  };
}
