import type { ObjectRow } from "../api/object-row.js";
import type { Question } from "../rights/allowed-operations.js";
import type { UserRights } from "../rights/use-rights.js";
import { defineAction, type Action } from "./plan/action.js";

/**
 * The operation that an action needs a right to; undefined: none, or its dialog
 * determines the operation.
 */
function questionOf(action: Action, type: string): Question | undefined {
  const { method, idParameter = "id" } =
    action.needs ?? action.operation?.({ id: "", type }, {}) ?? {};
  return method === undefined || idParameter === ""
    ? undefined
    : { method, idParameter };
}

/**
 * The actions that the user's rights allow on at least one of the objects. On the
 * others they are refused with the reason.
 */
export function permitted(
  actions: readonly Action[],
  objects: readonly ObjectRow[],
  { may }: UserRights,
): readonly Action[] {
  return actions.flatMap((action) => {
    let isForAll = true;
    let isForSome = objects.length === 0;
    for (const { id, type } of objects) {
      const question = questionOf(action, type);
      const isAllowed = question === undefined || may(question, id) === true;
      isForAll &&= isAllowed;
      isForSome ||= isAllowed;
    }
    if (isForAll) return [action];
    return isForSome ? [refusing(action, may)] : [];
  });
}

function refusing(action: Action, may: UserRights["may"]): Action {
  return defineAction({
    ...action,
    refusalOf(object, text) {
      const question = questionOf(action, object.type);
      if (question !== undefined && may(question, object.id) !== true)
        return text.actions.reasons.forbidden;
      return action.refusalOf?.(object, text);
    },
  });
}
