import type { ObjectRow } from "../objects/object-row.js";
import { allActions } from "./all-actions.js";
import type { Action } from "./action.js";
import { askFor } from "./asked.js";

export interface Actions {
  /** All that can be done to objects of a type, in the order of a menu. */
  readonly of: (type: string) => readonly Action[];
  /**
   * Asks what has to be asked, does it, and tells in toasts what comes of it.
   * Objects may be rows of a list: what is missing is fetched.
   */
  readonly perform: (
    action: Action,
    objects: readonly ObjectRow[],
  ) => Promise<void>;
}

const known = new Map<string, readonly Action[]>();

export function useActions(): Actions {
  return { of: actionsOf, perform: askFor };
}

function actionsOf(type: string): readonly Action[] {
  const found =
    known.get(type) ?? allActions.filter(({ types }) => types.includes(type));
  known.set(type, found);
  return found;
}

export { fieldsForActions } from "./fields.js";
