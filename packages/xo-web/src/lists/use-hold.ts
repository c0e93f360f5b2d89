import { computed, ref, type ComputedRef, type Ref } from "vue";

export interface Hold {
  /** Rows keep their place: the rule of steady-rows.ts. */
  readonly isHeld: ComputedRef<boolean>;
  /** Grows when the order of now is wanted all the same. */
  readonly updates: Ref<number>;
  readonly pointer: (event: PointerEvent, isOver: boolean) => void;
  /** A key has moved or chosen something; false: the focus has left. */
  readonly keys: (areUsed: boolean) => void;
}

/** Is somebody pointing at rows, or at work on them with keys? A finger points at nothing. */
export function useHold(): Hold {
  const isOver = ref(false);
  const hasKeys = ref(false);
  return {
    isHeld: computed(() => isOver.value || hasKeys.value),
    updates: ref(0),
    pointer({ pointerType }, isIn) {
      if (pointerType === "touch") return;
      isOver.value = isIn;
      if (!isIn) hasKeys.value = false;
    },
    keys(areUsed) {
      hasKeys.value = areUsed;
    },
  };
}
