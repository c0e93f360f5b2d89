import { computed, ref, watch, type ComputedRef, type Ref } from "vue";
import { useInitialLocale } from "../locale/use-locale.js";
import { termAt } from "./caret-term.js";
import type { Completion } from "./completion.js";
import { complete, completionsFor, propertyAt } from "./completions.js";
import { useKnownValues } from "./use-known-values.js";

interface Completions {
  readonly list: ComputedRef<readonly Completion[]>;
  /** Index of the selected completion; -1: none. */
  readonly active: Ref<number>;
  move(step: number): void;
  /** The text with the completion inserted, and the new position of the caret. */
  apply(completion: Completion): { text: string; caret: number };
}

/** Completions at the caret of a text. */
export function useCompletions(input: {
  readonly type: () => string;
  readonly text: Ref<string>;
  readonly caret: Ref<number>;
  readonly isOpen: Ref<boolean>;
}): Completions {
  const { text: texts } = useInitialLocale();
  const term = computed(() => termAt(input.text.value, input.caret.value));
  const values = useKnownValues(() => {
    const property = propertyAt(term.value, input.type());
    return input.isOpen.value && property !== undefined
      ? { type: input.type(), property, typed: term.value.typed }
      : undefined;
  });
  const list = computed(() =>
    input.isOpen.value
      ? completionsFor(term.value, {
          type: input.type(),
          messages: texts.value.filters,
          values: values.value,
          now: Math.floor(Date.now() / 1000),
        })
      : [],
  );
  const active = ref(-1);
  watch([input.text, input.caret, input.isOpen], () => {
    active.value = -1;
  });
  return {
    list,
    active,
    move(step) {
      const { length } = list.value;
      // One additional position without a selected completion, in which Enter accepts the text.
      active.value =
        ((active.value + 1 + step + length + 1) % (length + 1)) - 1;
    },
    apply: (completion) => complete(input.text.value, term.value, completion),
  };
}
