import { computed, ref, watch, watchEffect, type Ref } from "vue";
import type { ObjectRow } from "../../api/object-row.js";
import { useObjects } from "../../live/use-window.js";
import { useNames } from "../../objects/use-name.js";
import type { Pool } from "../../objects/infrastructure.js";

interface ObjectChoiceOptions {
  readonly type: string;
  readonly filter?: string | undefined;
  /** Of disks: only those on SRs that match. */
  readonly srFilter?: string | undefined;
  readonly fields?: readonly string[] | undefined;
  /** Further text about each object, such as its free space. */
  readonly more?: ((object: ObjectRow) => string) | undefined;
  readonly isOptional?: boolean | undefined;
  /** Id of the pool whose default SR is chosen at first. */
  readonly defaultOf?: string | undefined;
}

interface ObjectOption {
  readonly value: string;
  readonly label: string;
}

/** Up to this number of objects are options of a drop-down list; of more, the server searches those that match. */
const MAX_OPTIONS = 100;

/** Of a local SR its host: local SRs have the same name on all hosts. */
function hostOf({ type, $container, $pool }: ObjectRow): string | undefined {
  const isLocal = type === "SR" && typeof $container === "string";
  return isLocal && $container !== $pool ? $container : undefined;
}

/** SRs whose disks are excluded at most; a pool has a DVD drive for each of at most 64 hosts, and ISO libraries. */
const MAX_EXCLUDED = 500;

/** A filter without the disks of the SRs that do not match `srFilter`; undefined: not known yet. */
function useExcludedSrs(options: () => ObjectChoiceOptions) {
  const { rows, state } = useObjects(() => {
    const { srFilter } = options();
    return srFilter === undefined
      ? undefined
      : {
          type: "SR",
          filter: `!(${srFilter})`,
          fields: ["id"],
          limit: MAX_EXCLUDED,
        };
  });
  return computed(() => {
    if (options().srFilter === undefined) return "";
    if (state.value === "loading") return undefined;
    const ids = rows.value.map(({ id }) => id);
    return ids.length === 0 ? "" : `!$SR:|(${ids.join(" ")})`;
  });
}

const byLabel = new Intl.Collator(undefined, { numeric: true });

/**
 * The objects that can be chosen. If only one matches, or it is the default SR, it is chosen.
 * @param search the words that the user has typed, if there are many objects
 */
export function useObjectChoice(
  options: () => ObjectChoiceOptions,
  model: Ref<string | null | undefined>,
  search: Ref<string>,
) {
  const isSearched = ref(false);
  const request = computed(() => {
    const { type, filter, fields = ["id", "name_label"] } = options();
    return {
      type,
      ...(filter === undefined ? {} : { filter }),
      fields: [
        ...new Set([
          ...fields,
          "type",
          ...(type === "SR" ? ["$container", "$pool"] : []),
        ]),
      ],
      sort: [{ by: "name_label" }],
    };
  });
  const excluded = useExcludedSrs(options);
  const { rows, total, state } = useObjects(() => {
    if (excluded.value === undefined) return undefined;
    const filters = [request.value.filter, excluded.value].filter(Boolean);
    return {
      ...request.value,
      ...(filters.length === 0 ? {} : { filter: filters.join(" ") }),
      ...(isSearched.value ? { search: search.value.trim() } : {}),
      limit: MAX_OPTIONS,
    };
  });
  watch(total, (count = 0) => {
    isSearched.value ||= count > MAX_OPTIONS;
  });

  const { rows: pools } = useObjects<Pool>(() => {
    const { defaultOf } = options();
    return defaultOf === undefined
      ? undefined
      : { type: "pool", ids: [defaultOf], fields: ["id", "default_SR"] };
  });
  const defaultSr = computed(() => pools.value[0]?.default_SR);
  /** The chosen object and the default one may not be among those that the search finds. */
  const { rows: known } = useObjects(() => {
    const ids = [model.value, defaultSr.value].filter(
      (id): id is string => typeof id === "string" && id !== "",
    );
    return isSearched.value && ids.length > 0
      ? { ...request.value, ids }
      : undefined;
  });

  const labelOf = useLabels(options, () => [...rows.value, ...known.value]);
  const choose = useProposal(model, () => {
    const ids = [...rows.value, ...known.value].map(({ id }) => id);
    const preferred = defaultSr.value ?? "";
    if (ids.includes(preferred)) return preferred;
    const isSingle = rows.value.length === 1 && !isSearched.value;
    return isSingle && options().isOptional !== true ? ids[0] : undefined;
  });

  return {
    state,
    /** Whether there are so many objects that the user has to search. */
    isSearched,
    options: computed<readonly ObjectOption[]>(() =>
      rows.value
        .map((row) => ({ value: row.id, label: labelOf(row) }))
        .toSorted((a, b) => byLabel.compare(a.label, b.label)),
    ),
    /** Number of objects that match, but are not listed. */
    moreCount: computed(() => Math.max(0, (total.value ?? 0) - MAX_OPTIONS)),
    nameOf(id: string): string {
      const row = [...known.value, ...rows.value].find((one) => one.id === id);
      return row === undefined ? "" : labelOf(row);
    },
    choose,
  };
}

/** @returns the label of an object: its name, and what distinguishes it */
function useLabels(
  options: () => ObjectChoiceOptions,
  rows: () => readonly ObjectRow[],
): (row: ObjectRow) => string {
  const names = useNames();
  watchEffect(() => {
    for (const row of rows()) {
      const host = hostOf(row);
      if (host !== undefined) names.request("host", host);
    }
  });
  return (row) => {
    const about = [names.get(hostOf(row) ?? ""), options().more?.(row)]
      .filter(Boolean)
      .join(" · ");
    const { id, name_label: name } = row;
    // The id is shown only for an object without a name.
    if (name === undefined || name === "") return about || id;
    return about === "" ? name : `${name} · ${about}`;
  };
}

/** Sets the proposal until the user chooses. @returns chooses an object, or nothing */
function useProposal(
  model: Ref<string | null | undefined>,
  proposal: () => string | undefined,
): (id: string) => void {
  const isChosen = ref(false);
  watchEffect(() => {
    if (isChosen.value || model.value) return;
    const proposed = proposal();
    if (proposed !== undefined) model.value = proposed;
  });
  return (id) => {
    isChosen.value = true;
    model.value = id || null;
  };
}
