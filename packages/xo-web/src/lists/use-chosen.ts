import { shallowRef, type ShallowRef } from "vue";
import { useServer } from "../live/use-server.js";
import type { ObjectRow } from "../objects/object-row.js";
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

export interface Chosen {
  readonly selection: ShallowRef<Selection>;
  readonly toggle: (row: ObjectRow) => void;
  readonly add: (rows: readonly ObjectRow[]) => void;
  /** What is known of them by now. */
  readonly renew: (rows: readonly ObjectRow[]) => void;
  readonly clear: () => void;
  /** All that match: one by one as long as they are not too many. @throws as the server does */
  readonly all: (request: RowsRequest, total: number) => Promise<void>;
}

/** What is chosen of a list. */
export function useChosen(): Chosen {
  const { call } = useServer();
  const selection = shallowRef<Selection>(nothing);
  return {
    selection,
    toggle(row) {
      selection.value = toggle(selection.value, row);
    },
    add(rows) {
      selection.value = withAll(selection.value, rows);
    },
    renew(rows) {
      selection.value = renewed(selection.value, rows);
    },
    clear() {
      selection.value = nothing;
    },
    async all(request, total) {
      if (total > MOST_CHOSEN) {
        selection.value = { kind: "all", count: total };
        return;
      }
      const rows = await readAll(call, request, { most: MOST_CHOSEN });
      selection.value = withAll(nothing, rows);
    },
  };
}
