import { shallowRef, watch, type ShallowRef } from "vue";
import { useServer } from "../live/use-server.js";
import { useWindow } from "../live/use-window.js";
import { fill } from "../locale/messages.js";
import { useLocale } from "../locale/use-locale.js";
import type { ObjectRow } from "../api/object-row.js";
import { useToasts } from "../toasts/use-toasts.js";
import type { RowsRequest } from "./section-view.js";
import {
  MOST_CHOSEN,
  nothing,
  renewed,
  toggle,
  withAll,
  type Selection,
} from "./selection.js";
import { readAll } from "./use-export.js";

/**
 * Selected objects are updated wherever they are in the list; above a limit, only
 * the visible ones.
 */
const FOLLOWED = 100;

export interface Chosen {
  readonly selection: ShallowRef<Selection>;
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
  const { text } = useLocale();
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
    const asked = request();
    if (asked === undefined || ids.length === 0 || ids.length > FOLLOWED)
      return undefined;
    const { type, fields } = asked;
    const filter = `|(${ids.map((id) => `id:${id}`).join(" ")})`;
    return { type, fields, filter, offset: 0, limit: FOLLOWED };
  });
  watch(followed.rows, renew);

  async function all(): Promise<void> {
    const asked = request();
    const count = total();
    if (asked === undefined || count === undefined) return;
    if (count > MOST_CHOSEN) {
      choose({ kind: "all", count });
      return;
    }
    const own = ++turn;
    const rows = await readAll(call, asked, { most: MOST_CHOSEN });
    if (own === turn) choose(withAll(nothing, rows));
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
      choose(toggle(selection.value, row));
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

function idsOf(selection: Selection): string[] {
  return selection.kind === "all" ? [] : [...selection.objects.keys()].sort();
}
