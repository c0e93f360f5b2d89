import { computed, shallowRef, type ComputedRef } from "vue";
import { useRoute, useRouter } from "vue-router";
import { readQuery, writeQuery, type ListQuery } from "./list-query.js";

/** Changes within this time are one step of the browser's history, in ms. */
const ONE_STEP_MS = 2_000;

interface ListQueryRef {
  readonly query: ComputedRef<ListQuery>;
  /** Adds a history entry; continuous typing adds one. */
  readonly change: (news: Partial<ListQuery>) => void;
}

/**
 * The query of a list. The address contains it if the list has a page of its own.
 * @param defaults what the address leaves out
 */
export function useListQuery(
  defaults: ListQuery,
  isEmbedded: boolean,
): ListQueryRef {
  return isEmbedded ? ownQuery(defaults) : addressQuery(defaults);
}

function ownQuery(defaults: ListQuery): ListQueryRef {
  const own = shallowRef(defaults);
  return {
    query: computed(() => own.value),
    change(news) {
      own.value = { ...own.value, ...news };
    },
  };
}

function addressQuery(defaults: ListQuery): ListQueryRef {
  const route = useRoute();
  const router = useRouter();
  const { path } = route;
  /** The address after the pending navigation. */
  const requested = shallowRef<ListQuery>();
  let typedAt = -Infinity;
  let last = readQuery(route.query, defaults);

  const query = computed(() => {
    // No rows are requested while the page is being left.
    if (route.path === path) last = readQuery(route.query, defaults);
    return requested.value ?? last;
  });
  async function change(news: Partial<ListQuery>): Promise<void> {
    const next = { ...query.value, ...news };
    requested.value = next;
    const address = { path, query: writeQuery(next, defaults) };
    const isTyping = Object.keys(news).join() === "filter";
    const isSameStep = isTyping && performance.now() - typedAt < ONE_STEP_MS;
    typedAt = isTyping ? performance.now() : -Infinity;
    await (isSameStep ? router.replace(address) : router.push(address));
    if (requested.value === next) requested.value = undefined;
  }
  return {
    query,
    change(news) {
      void change(news);
    },
  };
}
