import { computed, onScopeDispose, ref, type ComputedRef, type Ref } from "vue";

/**
 * Delay between the leaving of the pointer and the release of the rows, in ms: the
 * pointer leaves them on its way to the button.
 */
const LEFT_MS = 250;

interface Hold {
  /** Holds the order of rows, see stable-rows.ts. */
  readonly isHeld: ComputedRef<boolean>;
  /** Incremented when the current order is requested explicitly. */
  readonly updates: Ref<number>;
  /** The pointer is over rows, or over the button that updates them. */
  readonly pointer: (event: PointerEvent, isOver: boolean) => void;
  /** A key has moved the cursor or changed the selection; false: the focus has left. */
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
