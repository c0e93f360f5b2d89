import { computed, shallowReactive, type ComputedRef } from "vue";
import { bothOf } from "../../filters/selection.js";
import type { WindowState } from "../../live/live-window.js";
import type { ObjectRow } from "../../api/object-row.js";
import { groupIdOf, groupTerm, type Group } from "./group-term.js";
import { Lines, type RowRange, type ListSection } from "./sections.js";
import type { RowsRequest, SectionView } from "./section-view.js";
import type { Groups } from "./use-groups.js";

/** Placeholder lines until the total is known. */
const PLACEHOLDERS = 16;

/** A line of the list, as it is drawn. */
export interface DrawnLine {
  readonly line: number;
  readonly section: ListSection;
  /** -1: the head of the section. */
  readonly index: number;
  readonly row: ObjectRow | undefined;
  readonly isGone: boolean;
  readonly group: Group | undefined;
}

interface LineRange {
  readonly first: number;
  readonly end: number;
}

export interface Rows {
  readonly lines: ComputedRef<Lines>;
  readonly at: (line: number) => DrawnLine | undefined;
  /** Existing lines from `first` to before `end`. */
  readonly between: (range: LineRange) => readonly DrawnLine[];
  /** Sets the view of a section. The same function for the same key, so that a reader is not updated. */
  readonly setterOf: (key: string) => (view: SectionView | undefined) => void;
  readonly requestOf: (section: ListSection) => RowsRequest;
  readonly views: ReadonlyMap<string, SectionView>;
  /** Number of matching objects; undefined until it is known. */
  readonly total: ComputedRef<number | undefined>;
  /** False: a pool is still being loaded, there may be more. */
  readonly isComplete: ComputedRef<boolean>;
  readonly state: ComputedRef<WindowState>;
  /** The error of the server. */
  readonly refusal: ComputedRef<string | undefined>;
  readonly isHeldBack: ComputedRef<boolean>;
}

/** The lines of a list: rows, or groups with rows where they are open. */
export function useRows(
  request: () => RowsRequest | undefined,
  groups: Groups,
  groupBy: () => string | undefined,
): Rows {
  const views = shallowReactive(new Map<string, SectionView>());
  const byId = computed(
    () => new Map(groups.list.value?.map((one) => [groupIdOf(one), one])),
  );
  const sections = computed(() =>
    groupBy() === undefined
      ? [wholeSection(views)]
      : groupSections(byId.value, groups, views),
  );
  const lines = computed(() => new Lines(sections.value));

  function at(line: number): DrawnLine | undefined {
    const found = lines.value.at(line);
    if (found === undefined) return undefined;
    const { section, index } = found;
    const view = views.get(section.key);
    const row = view?.rows[index - view.offset];
    return {
      line,
      section,
      index,
      row,
      isGone: row !== undefined && view?.gone.has(row.id) === true,
      group: byId.value.get(section.key.slice(1)),
    };
  }

  return {
    lines,
    views,
    at,
    between: ({ first, end }) =>
      Array.from({ length: end - first }, (_, i) => at(first + i)).filter(
        (line) => line !== undefined,
      ),
    setterOf: createSetters(views),
    state: computed(() => {
      const [view] = views.values();
      return view?.state ?? "loading";
    }),
    refusal: computed(
      () =>
        groups.refusal.value ??
        [...views.values()].find(({ error }) => error)?.error,
    ),
    requestOf(section) {
      const whole = request()!;
      const group = byId.value.get(section.key.slice(1));
      const path = groupBy();
      if (path === undefined || group === undefined) return whole;
      const term = groupTerm(path, group.key);
      return { ...whole, filter: bothOf(whole.filter, term) };
    },
    total: computed(() =>
      groupBy() === undefined ? views.get("")?.total : groups.total.value,
    ),
    isComplete: computed(
      () =>
        groups.isComplete.value &&
        [...views.values()].every(({ isComplete }) => isComplete),
    ),
    isHeldBack: computed(() =>
      [...views.values()].some(({ held }) => held !== undefined),
    ),
  };
}

/** The section of a list without groups. */
function wholeSection(views: ReadonlyMap<string, SectionView>): ListSection {
  const count = countOf(views.get(""));
  return { key: "", hasHead: false, isOpen: true, count };
}

function groupSections(
  byId: ReadonlyMap<string, Group>,
  groups: Groups,
  views: ReadonlyMap<string, SectionView>,
): readonly ListSection[] {
  return [...byId].map(([id, { count }]) => ({
    key: `g${id}`,
    hasHead: true,
    isOpen: groups.isOpen(id),
    count: views.get(`g${id}`)?.total ?? count,
  }));
}

function createSetters(views: Map<string, SectionView>): Rows["setterOf"] {
  const setters = new Map<string, (view: SectionView | undefined) => void>();
  return (key) => {
    const setter =
      setters.get(key) ??
      ((view) => {
        if (view === undefined) views.delete(key);
        else views.set(key, view);
      });
    setters.set(key, setter);
    return setter;
  };
}

/** Placeholder lines are counted until the total is known. */
function countOf(view: SectionView | undefined): number {
  if (view?.state === "refused") return 0;
  return view?.total ?? PLACEHOLDERS;
}

/** Ranges to read. Without groups there is always one, because its answer has the total. */
export function rangesToRead(
  lines: Lines,
  { first, end }: { readonly first: number; readonly end: number },
): readonly RowRange[] {
  const ranges = lines.rowsIn(first, end);
  const [only] = lines.sections;
  if (ranges.length > 0 || only === undefined || only.hasHead) return ranges;
  return [{ section: only, first: 0, end: 0 }];
}
