import { computed, type ComputedRef } from "vue";
import { useRoute, useRouter } from "vue-router";
import { useObjects } from "../live/use-window.js";
import type { ObjectRow } from "../api/object-row.js";

/** The selected pool, in the page's address. Undefined: all pools. */
export function usePoolChoice(): {
  pools: ComputedRef<readonly ObjectRow[]>;
  isLoading: ComputedRef<boolean>;
  refusal: ComputedRef<string | undefined>;
  pool: ComputedRef<ObjectRow | undefined>;
  choose: (id: string) => void;
} {
  const route = useRoute();
  const router = useRouter();
  const { rows, state, error } = useObjects(() => ({
    type: "pool",
    fields: ["id", "type", "name_label", "name_description"],
    limit: 1000,
  }));
  const requested = computed(() => String(route.query["pool"] ?? ""));
  return {
    pools: rows,
    isLoading: computed(() => state.value === "loading"),
    refusal: error,
    pool: computed(() =>
      rows.value.length === 1
        ? rows.value[0]
        : rows.value.find(({ id }) => id === requested.value),
    ),
    choose(id) {
      const query = id === "" ? {} : { pool: id };
      void router.replace({ query });
    },
  };
}
