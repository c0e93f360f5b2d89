import type { WindowState } from "../../live/live-window.js";
import type { StableView } from "./stable-rows.js";

/** The known rows of a section. */
export interface SectionView extends StableView {
  readonly total: number | undefined;
  readonly isComplete: boolean;
  readonly state: WindowState;
  readonly error: string | undefined;
}

/** The request of all sections of a list. */
export interface RowsRequest {
  readonly type: string;
  readonly filter: string;
  readonly search: string;
  readonly sort: readonly {
    readonly by: string;
    readonly descending?: boolean;
  }[];
  readonly fields: readonly string[];
}
