import {
  computed,
  onMounted,
  shallowRef,
  type ComputedRef,
  type Ref,
} from "vue";
import { useActions } from "../actions/use-actions.js";
import { useObject } from "../live/use-object.js";
import { useServer } from "../live/use-server.js";
import { useLocale } from "../locale/use-locale.js";
import type { ObjectRow } from "../api/object-row.js";
import { mainTypes, minorTypes, readObjects } from "./object-search.js";
import {
  actionEntries,
  fitting,
  objectEntries,
  pageEntries,
  type EntryGroup,
} from "./palette-entries.js";
import { recentObjects } from "./recent-objects.js";
import type { ObjectName } from "./route-object.js";
import { useObjectSearch } from "./use-object-search.js";

/** Actions and pages that are shown with other groups. */
const FEW = 5;
const MAX_RECENT = 6;

interface PaletteEntries {
  readonly groups: ComputedRef<readonly EntryGroup[]>;
  /** The object whose actions are shown, live. */
  readonly subject: ComputedRef<ObjectRow | undefined>;
  /** The results are of a previous text. */
  readonly isSearching: ComputedRef<boolean>;
}

/**
 * The content of the palette.
 * @param chosen the object whose actions are shown alone
 * @param around the object of the current page
 */
export function useEntries(
  typed: Ref<string>,
  chosen: Ref<ObjectName | undefined>,
  around: ObjectName | undefined,
): PaletteEntries {
  const { call } = useServer();
  const { text } = useLocale();
  const { of } = useActions();
  const named = computed(() => chosen.value ?? around);
  const { object: subject } = useObject<ObjectRow>(
    () => named.value?.type ?? "VM",
    () => named.value?.id,
  );
  const requested = () =>
    chosen.value === undefined ? typed.value.trim() : "";
  const { found, answered } = useObjectSearch(call, requested, {
    types: mainTypes,
    most: 24,
  });
  const minor = useObjectSearch(call, requested, {
    types: minorTypes,
    most: 12,
    debounceMs: 250,
  });

  const recent = shallowRef<readonly ObjectRow[]>([]);
  onMounted(async () => {
    const seen = recentObjects().filter(({ id }) => id !== around?.id);
    recent.value = await readObjects(call, seen.slice(0, MAX_RECENT));
  });

  const actions = computed(() =>
    subject.value === undefined
      ? []
      : actionEntries(of(subject.value.type), subject.value, {
          typed: typed.value,
          text: text.value,
        }),
  );
  const pages = computed(() => pageEntries(typed.value, text.value));

  const isSearching = computed(() => answered.value !== requested());
  /** Until the next results arrive, the previous ones that match. */
  const objects = computed(() =>
    isSearching.value
      ? fitting(found.value, typed.value, ({ name_label = "" }) => name_label)
      : found.value,
  );

  const groups = computed((): readonly EntryGroup[] => {
    if (chosen.value !== undefined)
      return some([{ id: "actions", entries: actions.value }]);
    const isEmpty = typed.value.trim() === "";
    // The last group: late results do not move other groups.
    const isMinorKnown = !isEmpty && minor.answered.value === requested();
    return some([
      { id: "actions", entries: actions.value.slice(0, FEW) },
      isEmpty
        ? { id: "recent", entries: objectEntries(recent.value) }
        : { id: "pages", entries: pages.value.slice(0, FEW) },
      isEmpty
        ? { id: "pages", entries: pages.value }
        : { id: "objects", entries: objectEntries(objects.value) },
      {
        id: "minor",
        entries: isMinorKnown ? objectEntries(minor.found.value) : [],
      },
    ]);
  });
  return {
    groups,
    subject,
    isSearching,
  };
}

function some(groups: readonly EntryGroup[]): readonly EntryGroup[] {
  return groups.filter(({ entries }) => entries.length > 0);
}
