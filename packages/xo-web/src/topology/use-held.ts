import { ref, shallowRef, watch, type Ref, type ShallowRef } from "vue";

/**
 * A diagram that is frozen while the pointer or the focus is in it: changes are
 * applied when they leave.
 */
export function useHeld<T>(latest: () => T): {
  shown: Readonly<ShallowRef<T>>;
  isHeld: Ref<boolean>;
  /** Changes are held back. */
  isBehind: Ref<boolean>;
  /** Applies a change immediately, even if frozen: the previous content belongs to another pool. */
  refresh: () => void;
} {
  const shown = shallowRef(latest()) as ShallowRef<T>;
  const isHeld = ref(false);
  const isBehind = ref(false);
  const refresh = (): void => {
    shown.value = latest();
    isBehind.value = false;
  };
  watch([latest, isHeld], () => {
    if (isHeld.value) isBehind.value = shown.value !== latest();
    else refresh();
  });
  return { shown, isHeld, isBehind, refresh };
}
