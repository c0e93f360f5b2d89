import { ref, shallowRef, watch, type ComputedRef, type Ref } from "vue";
import { stableOrder } from "./stable-order.js";

/** The order of a live list, frozen while the pointer or the focus is in the list. */
export function useStableOrder(
  requested: ComputedRef<readonly string[]>,
  exists: (id: string) => boolean,
): {
  order: Readonly<Ref<readonly string[]>>;
  held: Ref<boolean>;
  refresh: () => void;
} {
  const order = shallowRef<readonly string[]>(requested.value);
  const held = ref(false);
  watch([requested, held], () => {
    order.value = stableOrder(order.value, requested.value, {
      held: held.value,
      exists,
    });
  });
  const refresh = (): void => {
    order.value = requested.value;
  };
  return { order, held, refresh };
}
