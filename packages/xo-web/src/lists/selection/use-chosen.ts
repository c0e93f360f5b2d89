import { shallowRef, watch, type ShallowRef } from "vue";
import { useServer } from "../../live/use-server.js";
import { useWindow } from "../../live/use-window.js";
import { fill } from "../../locale/messages.js";
import { useInitialLocale } from "../../locale/use-locale.js";
import type { ObjectRow } from "../../api/object-row.js";
import { useToasts } from "../../toasts/use-toasts.js";
import type { RowsRequest } from "../rows/section-view.js";
import {
  countOf,
  MAX_CHOSEN,
  MAX_EXCLUDED,
  nothing,
  renewed,
  toggle,
  withAll,
  type Selection,
  type SelectionOfAll,
} from "./selection.js";
import { readAll } from "./use-export.js";
import { anyOf } from "../../filters/value-text.js";

/**
 * Selected objects are updated wherever they are in the list; above a limit, only
 * the visible ones.
 */
const FOLLOWED = 100;

export interface Chosen {
  readonly selection: ShallowRef<Selection>;
  /** Above MAX_EXCLUDED excluded objects a toast is shown instead. */
  readonly toggle: (row: ObjectRow) => void;
  readonly add: (rows: readonly ObjectRow[]) => void;
  /** Their last known state. */
  readonly renew: (rows: readonly ObjectRow[]) => void;
  readonly clear: () => void;
  /** Selects all that match: one by one unless there are too many. */
  readonly all: () => void;
}

/** Selection of a list. */
export function useChosen(
  request: () => RowsRequest | undefined,
  total: () => number | undefined,
): Chosen {
  const { call } = useServer();
  const { text, formats } = useInitialLocale();
  const toasts = useToasts();
  const selection = shallowRef<Selection>(nothing);
  /** A change of the selection in the meantime cancels it. */
  let turn = 0;
  const choose = (next: Selection) => {
    turn++;
    selection.value = next;
  };
  const renew = (rows: readonly ObjectRow[]) => {
    selection.value = renewed(selection.value, rows);
  };

  const followed = useWindow(() => {
    const ids = idsOf(selection.value);
    const current = request();
    if (current === undefined || ids.length === 0 || ids.length > FOLLOWED)
      return undefined;
    const { type, fields } = current;
    const filter = `id:${anyOf(ids)}`;
    return { type, fields, filter, offset: 0, limit: FOLLOWED };
  });
  watch(followed.rows, renew);

  async function all(): Promise<void> {
    const count = total();
    if (count === undefined) return;
    const next: SelectionOfAll = { kind: "all", count, excluded: new Set() };
    if (count > MAX_CHOSEN) choose(next);
    else await readChosen(next);
  }
  /** Replaces a selection of all by its objects, which actions need, if they are not too many. */
  async function readChosen(chosen: SelectionOfAll): Promise<void> {
    const current = request();
    if (current === undefined || countOf(chosen) > MAX_CHOSEN) return;
    const own = ++turn;
    const read = await readSelection(call, current, chosen);
    if (own === turn) choose(read);
  }
  function reportExcluded(): void {
    const n = formats.value.count(MAX_EXCLUDED);
    const texts = fill(text.value.lists.tooManyExcluded, { n });
    toasts.show({ id: "too many excluded", tone: "bad", text: texts });
  }
  function report(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const texts = fill(text.value.lists.selectionFailed, { reason });
    toasts.show({ tone: "bad", text: texts });
  }

  return {
    selection,
    renew,
    toggle(row) {
      const next = toggle(selection.value, row);
      if (next === selection.value) reportExcluded();
      choose(next);
      if (next.kind === "all") readChosen(next).catch(report);
    },
    add(rows) {
      choose(withAll(selection.value, rows));
    },
    clear() {
      choose(nothing);
    },
    all() {
      all().catch(report);
    },
  };
}

/** The objects of a selection of all; the same selection with a new count if more match by now. */
async function readSelection(
  call: Parameters<typeof readAll>[0],
  request: RowsRequest,
  chosen: SelectionOfAll,
): Promise<Selection> {
  const { excluded } = chosen;
  // One more than permitted.
  const most = MAX_CHOSEN + excluded.size + 1;
  const rows = await readAll(call, request, { most });
  const objects = rows.filter(({ id }) => !excluded.has(id));
  return objects.length > MAX_CHOSEN
    ? { ...chosen, count: rows.length }
    : withAll(nothing, objects);
}

function idsOf(selection: Selection): string[] {
  return selection.kind === "all" ? [] : [...selection.objects.keys()].sort();
}
