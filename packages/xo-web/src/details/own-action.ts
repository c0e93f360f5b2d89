import {
  defineAction,
  type Action,
  type ActionName,
  type ActionDefinition,
} from "../actions/plan/action.js";
import type { Messages } from "../locale/messages.js";

/** An action of a single page, with a label of its own. */
export function ownAction(
  parts: Omit<ActionDefinition, "id"> & {
    readonly id: string;
    readonly label: (text: Messages) => string;
  },
): Action {
  const { label, id, ...rest } = parts;
  return { ...defineAction({ ...rest, id: id as ActionName }), label };
}
