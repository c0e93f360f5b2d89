import {
  computed,
  ref,
  shallowRef,
  watch,
  type ComputedRef,
  type Ref,
} from "vue";
import { useObjects } from "../live/use-window.js";
import type { ObjectRow } from "../api/object-row.js";
import { readStored, writeStored } from "../browser/stored-value.js";
import {
  branches,
  countedRuns,
  foundBranches,
  poolKey,
  type Grouping,
} from "./branches.js";
import { recallOpen, rememberOpen } from "./open-nodes.js";
import { Outline, type TreeLine } from "./outline.js";
import { useCounts } from "./use-counts.js";
import { useRuns, type Runs, type RequestedRun } from "./use-runs.js";
import { anyOf } from "../filters/value-text.js";

/** The visible lines. */
export interface SeenLines {
  readonly first: number;
  readonly end: number;
}

export interface Tree {
  readonly grouping: Ref<Grouping>;
  readonly search: Ref<string>;
  readonly outline: ComputedRef<Outline>;
  readonly runs: Runs;
  /** Nothing is loaded yet. */
  readonly isLoading: ComputedRef<boolean>;
  /** Error message of the server. */
  readonly error: ComputedRef<string | undefined>;
  /** The object of a line of a run; undefined: not loaded yet, or not of a run. */
  readonly rowOf: (line: TreeLine) => ObjectRow | undefined;
  /** Expands or collapses a node. @param isRequested by the user; the choice is stored */
  readonly setOpen: (
    key: string,
    isOpen: boolean,
    isRequested: boolean,
  ) => void;
}

/** If there are more pools than this, all are collapsed at first. */
const FEW_POOLS = 3;
/** Maximum number of expanded pools whose hosts are requested: a filter has a maximum length. */
const MAX_POOLS = 400;
const GROUPING = "tree-grouping";
const groupings: readonly Grouping[] = ["host", "tag", "none"];
const FIELDS = ["id", "type", "name_label", "$pool"];
const HOST_FIELDS = [...FIELDS, "power_state", "enabled"];

/** The visible lines of the tree, with the requests for them. */
export function useTree(seen: Ref<SeenLines>, isHeld: Ref<boolean>): Tree {
  const grouping = ref(recallGrouping());
  const search = ref("");
  const texts = computed(() => search.value.trim());
  watch(grouping, (choice) => {
    writeStored(GROUPING, choice);
  });

  let stored = recallOpen();
  const choices = shallowRef(stored);
  const isOpen = (key: string) =>
    choices.value.get(key) ??
    (key.startsWith("pool ") && pools.rows.value.length <= FEW_POOLS);

  const pools = useObjects(() => ({
    type: "pool",
    fields: FIELDS,
    limit: 5_000,
  }));
  const openPools = computed(() =>
    pools.rows.value
      .filter(({ id }) => isOpen(poolKey(id)))
      .slice(0, MAX_POOLS),
  );
  const hosts = useObjects(() =>
    grouping.value === "host"
      ? hostQuery(openPools.value.map(({ id }) => id))
      : undefined,
  );
  const runs = useRuns(isHeld);
  const counts = useCounts(["$pool", "$container", "tags"], (path) =>
    path === "tags" ? grouping.value === "tag" : grouping.value === "host",
  );

  const outline = computed(() => {
    const parts =
      texts.value === ""
        ? branches(grouping.value, {
            pools: pools.rows.value,
            hosts: hosts.rows.value,
            byPool: counts["$pool"]!.value,
            byContainer: counts["$container"]!.value,
            byTag: counts["tags"]!.value,
            isOpen,
            totalOf: runs.totalOf,
          })
        : foundBranches(texts.value, runs.totalOf);
    return new Outline(parts);
  });
  const counted = computed(() => countedRuns(grouping.value, texts.value));
  watch(
    () => requiredRuns(outline.value, seen.value, counted.value),
    runs.follow,
    { immediate: true },
  );

  return {
    grouping,
    search,
    outline,
    runs,
    isLoading: computed(() =>
      texts.value === "" && grouping.value !== "none"
        ? pools.state.value === "loading"
        : counted.value.some(({ key }) => runs.totalOf(key) === undefined),
    ),
    error: computed(() => pools.error.value ?? hosts.error.value),
    rowOf: (line) =>
      line.kind === "run" ? runs.rowAt(line.run.key, line.position) : undefined,
    setOpen(key, requested, isRequested) {
      choices.value = new Map(choices.value).set(key, requested);
      if (isRequested) stored = new Map(rememberOpen(stored, key, requested));
    },
  };
}

/** The hosts of some pools. */
function hostQuery(pools: readonly string[]) {
  if (pools.length === 0) return undefined;
  return {
    type: "host",
    filter: `$pool:${anyOf(pools)}`,
    fields: HOST_FIELDS,
    limit: 10_000,
  };
}

/** Runs with visible lines, and those of which only the number of rows is needed. */
function requiredRuns(
  outline: Outline,
  { first, end }: SeenLines,
  counted: ReturnType<typeof countedRuns>,
): RequestedRun[] {
  const visible = outline
    .runsBetween(first, end)
    .map(({ run: { key, request }, ...lines }) => ({ key, request, ...lines }));
  const others = counted.filter(
    ({ key }) => !visible.some((run) => run.key === key),
  );
  return [...others.map((run) => ({ ...run, first: 0, end: 0 })), ...visible];
}

function recallGrouping(): Grouping {
  const remembered = readStored(GROUPING);
  return groupings.find((one) => one === remembered) ?? "host";
}
