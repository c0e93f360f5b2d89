import type { ObjectRow } from "../api/object-row.js";
import { useActionRequests } from "./action-requests.js";
import { useRights } from "../rights/use-rights.js";
import { permitted } from "./permitted.js";
import { allActions } from "./all-actions.js";
import type { Action } from "./plan/action.js";

interface Actions {
  /**
   * Actions for objects of a type, in the order of a menu: those that the user's
   * rights allow on these objects. Without objects: all of the type.
   */
  readonly of: (
    type: string,
    objects?: readonly ObjectRow[],
  ) => readonly Action[];
  /**
   * Shows the dialog of the action, if it has one, and runs it. Toasts report the outcome.
   * Objects may be rows of a list: missing fields are requested.
   */
  readonly perform: (
    action: Action,
    objects: readonly ObjectRow[],
  ) => Promise<void>;
}

const actionsByType: ReadonlyMap<string, readonly Action[]> = new Map(
  [...new Set(allActions.flatMap(({ types }) => types))].map((type) => [
    type,
    allActions.filter(({ types }) => types.includes(type)),
  ]),
);

/** The actions that menus, lists and pages offer for objects. */
export function useActions(): Actions {
  const { perform } = useActionRequests();
  const rights = useRights();
  return {
    of: (type, objects = []) =>
      permitted(actionsByType.get(type) ?? [], objects, rights),
    perform,
  };
}

export { fieldsForActions } from "./fields.js";
