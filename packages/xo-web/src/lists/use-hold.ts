import { computed, onScopeDispose, ref, type ComputedRef, type Ref } from "vue";

/** So long after the pointer has left rows move: on its way to the button it passes nothing else. Milliseconds. */
const LEFT_MS = 250;

export interface Hold {
  /** Rows keep their place: the rule of stable-rows.ts. */
  readonly isHeld: ComputedRef<boolean>;
  /** Incremented when the present order is requested anyway. */
  readonly updates: Ref<number>;
  /** Over rows, or over the button that updates them. */
  readonly pointer: (event: PointerEvent, isOver: boolean) => void;
  /** A key has moved or chosen something; false: the focus has left. */
  readonly keys: (areUsed: boolean) => void;
}

/** Whether the pointer is over the rows or a row has the focus. Touch has no pointer position. */
export function useHold(): Hold {
  const isOver = ref(false);
  const hasKeys = ref(false);
  let leaving: ReturnType<typeof setTimeout> | undefined;
  onScopeDispose(() => {
    clearTimeout(leaving);
  });
  return {
    isHeld: computed(() => isOver.value || hasKeys.value),
    updates: ref(0),
    pointer({ pointerType }, isIn) {
      if (pointerType === "touch") return;
      clearTimeout(leaving);
      if (isIn) isOver.value = true;
      else
        leaving = setTimeout(() => {
          isOver.value = hasKeys.value = false;
        }, LEFT_MS);
    },
    keys(areUsed) {
      hasKeys.value = areUsed;
    },
  };
}
