import { computed, onScopeDispose, ref, shallowRef, watch } from "vue";
import { fill } from "../locale/messages.js";
import { useLocale } from "../locale/use-locale.js";
import { useToasts } from "../toasts/use-toasts.js";
import { reasonOf } from "./reason-of.js";

interface EditOptions<T> {
  /** The value of the server. */
  readonly value: () => T;
  /** Name of the edited property. */
  readonly label: () => string;
  /** Resolves when the server has saved the value. */
  readonly save: (value: T) => Promise<unknown>;
}

/** Changes arrive within the throttle pause of the server; after this time the value of the server is shown again. */
const ARRIVES_WITHIN_MS = 10_000;

/**
 * A value that is edited in place. The new value is shown immediately; if the
 * server refuses it, the old value is shown again, with the reason. A change
 * can be undone.
 */
export function useEdit<T>({ value, label, save }: EditOptions<T>) {
  const { text } = useLocale();
  const { show } = useToasts();
  const chosen = shallowRef<{ readonly value: T }>();
  const isSaving = ref(false);
  const hasFailed = ref(false);
  let timer: ReturnType<typeof setTimeout> | undefined;

  function clear(): void {
    clearTimeout(timer);
    chosen.value = undefined;
  }
  onScopeDispose(clear);
  // A value that arrives after saving is newer than the chosen one.
  watch(
    () => JSON.stringify(value()),
    () => {
      if (!isSaving.value) clear();
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
      timer = setTimeout(clear, ARRIVES_WITHIN_MS);
      showSuccess(() => change(before));
      return true;
    } catch (error) {
      clear();
      hasFailed.value = true;
      showFailure(error, () => change(after));
      return false;
    } finally {
      isSaving.value = false;
      if (JSON.stringify(value()) === JSON.stringify(after)) clear();
    }
  }

  function showSuccess(undo: () => unknown): void {
    show({
      tone: "good",
      text: fill(text.value.details.changed, { what: label() }),
      action: { label: text.value.ui.undo, run: undo },
    });
  }

  function showFailure(error: unknown, again: () => unknown): void {
    show({
      tone: "bad",
      text: fill(text.value.details.notChanged, { what: label() }),
      detail: reasonOf(error, text.value),
      action: { label: text.value.details.tryAgain, run: again },
    });
  }

  return {
    /** The chosen value until the server sends it, else the value of the server. */
    shown: computed(() =>
      chosen.value === undefined ? value() : chosen.value.value,
    ),
    isSaving,
    hasFailed,
    change,
  };
}
