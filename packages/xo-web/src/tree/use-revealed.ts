import { computed, watch, type ComputedRef } from "vue";
import { useRoute } from "vue-router";
import { useObject } from "../live/use-object.js";
import type { ObjectRow } from "../api/object-row.js";

/** Types of pages about an object that may be in the tree: the first parts of their paths. */
const types: Readonly<Record<string, string>> = {
  vms: "VM",
  hosts: "host",
  pools: "pool",
  srs: "SR",
  networks: "network",
};

interface Current {
  readonly type: string;
  readonly id: string;
}

/** The object of the current page; `reveal` is called whenever it changes. */
export function useRevealed(
  reveal: (object: ObjectRow) => void,
): ComputedRef<Current | undefined> {
  const route = useRoute();
  const current = computed(() => {
    const [, list = "", id] = route.path.split("/");
    const type = Object.hasOwn(types, list) ? types[list] : undefined;
    return type === undefined || !id ? undefined : { type, id };
  });
  const isInside = computed(() =>
    ["VM", "host", "pool"].includes(current.value?.type ?? ""),
  );
  const { object } = useObject(
    () => current.value?.type ?? "VM",
    () => (isInside.value ? current.value?.id : undefined),
    ["id", "type", "$pool", "$container"],
  );
  watch(
    () => object.value?.id,
    () => {
      if (object.value !== undefined) reveal(object.value);
    },
    { immediate: true },
  );
  return current;
}
