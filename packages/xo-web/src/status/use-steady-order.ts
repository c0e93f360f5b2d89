import { ref, shallowRef, watch, type ComputedRef, type Ref } from "vue";
import { steadyOrder } from "./steady-order.js";

/** The order of a live list, frozen while the pointer or the focus is in the list. */
export function useSteadyOrder(
  wanted: ComputedRef<readonly string[]>,
  exists: (id: string) => boolean,
): {
  order: Readonly<Ref<readonly string[]>>;
  held: Ref<boolean>;
  refresh: () => void;
} {
  const order = shallowRef<readonly string[]>(wanted.value);
  const held = ref(false);
  watch([wanted, held], () => {
    order.value = steadyOrder(order.value, wanted.value, {
      held: held.value,
      exists,
    });
  });
  const refresh = (): void => {
    order.value = wanted.value;
  };
  return { order, held, refresh };
}
