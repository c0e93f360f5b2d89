import type { Messages } from "../locale/messages.js";
import type { ObjectRow } from "../api/object-row.js";
import type { Action } from "./plan/action.js";

/** An item in the form of UiMenu. */
interface ActionItem {
  readonly id: string;
  readonly label: string;
  readonly icon: Action["icon"];
  readonly refusal: string | undefined;
  readonly tone: Action["tone"];
  readonly isFirstOfGroup: boolean;
}

/** Items of a menu, in groups; disabled ones have a reason. */
export function menuItems(
  actions: readonly Action[],
  objects: readonly ObjectRow[],
  text: Messages,
): ActionItem[] {
  const shown = bestOfPlaces(fitting(actions, objects), objects, text);
  return shown.map((action, i) => ({
    id: action.id,
    label: action.label(text),
    icon: action.icon,
    refusal: action.refusal(objects, text),
    tone: action.tone,
    isFirstOfGroup: i > 0 && shown[i - 1]?.group !== action.group,
  }));
}

/** Actions for this number of objects. */
export function fitting(
  actions: readonly Action[],
  objects: readonly ObjectRow[],
): readonly Action[] {
  const isMany = objects.length > 1;
  return actions.filter(({ isForOne, isForMany }) =>
    isMany ? isForOne !== true : isForMany !== true,
  );
}

/** Of the actions that share a button, returns the one that can be run now. */
export function bestOfPlaces(
  actions: readonly Action[],
  objects: readonly ObjectRow[],
  text: Messages,
): readonly Action[] {
  const slots = new Map<string, Action>();
  for (const action of actions) {
    const slot = action.slot ?? action.id;
    const other = slots.get(slot);
    const isBetter =
      other === undefined ||
      (other.refusal(objects, text) !== undefined &&
        action.refusal(objects, text) === undefined);
    if (isBetter) slots.set(slot, action);
  }
  return [...slots.values()];
}
