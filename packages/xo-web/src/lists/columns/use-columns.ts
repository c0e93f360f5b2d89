import { computed, shallowRef, type ComputedRef } from "vue";
import { readStored, writeStored } from "../../browser/stored-value.js";
import { useMedia } from "../../browser/use-media.js";
import type { Column } from "./column.js";
import {
  boundWidth,
  noChoice,
  readChoice,
  shownColumns,
  trackList,
  type ColumnChoice,
} from "./column-choice.js";
import { columnsOf } from "./columns.js";

/** Width of the column of checkboxes, in rem. */
const CHECK_WIDTH = 2.25;

export interface Columns {
  readonly all: readonly Column[];
  readonly shown: ComputedRef<readonly Column[]>;
  /** For grid-template-columns. */
  readonly tracks: ComputedRef<string>;
  /** CSS length below which the table scrolls. */
  readonly minWidth: ComputedRef<string>;
  readonly widthOf: (column: Column) => number;
  readonly show: (ids: readonly string[]) => void;
  readonly setWidth: (column: Column, rem: number) => void;
  readonly reset: () => void;
}

/**
 * Columns of a type, as stored in this browser.
 * @param requested ids from the URL, which take precedence over stored ones
 * @param ofSeveral whether there is more than one pool
 */
export function useColumns(
  type: string,
  requested: () => readonly string[] | undefined,
  ofSeveral: () => boolean,
): Columns {
  const all = columnsOf(type);
  const isWide = useMedia("(width >= 100rem)");
  const key = `columns.${type}`;
  const choice = shallowRef(readChoice(readStored(key)));
  const shown = computed<readonly Column[]>((before) => {
    const next = shownColumns(all, requested() ?? choice.value.shown, {
      ofSeveral: ofSeveral(),
      isWide: isWide.value,
    });
    // Rows are not rendered again when only the filter has changed.
    const isSame = before?.length === next.length;
    return isSame && before.every((one, i) => one === next[i]) ? before : next;
  });
  const widthOf = (column: Column) =>
    choice.value.widths[column.id] ?? column.width;

  function choose(next: ColumnChoice): void {
    choice.value = next;
    writeStored(key, next === noChoice ? null : JSON.stringify(next));
  }
  return {
    all,
    shown,
    widthOf,
    tracks: computed(() => trackList(shown.value, widthOf)),
    minWidth: computed(() => {
      const widths = shown.value.map(widthOf);
      return `${widths.reduce((sum, one) => sum + one, CHECK_WIDTH)}rem`;
    }),
    show(ids) {
      choose({ ...choice.value, shown: ids });
    },
    setWidth(column, rem) {
      const widths = { ...choice.value.widths, [column.id]: boundWidth(rem) };
      choose({ ...choice.value, widths });
    },
    reset() {
      choose(noChoice);
    },
  };
}
