import type { ObjectRow } from "../objects/object-row.js";
import type { Action, Order, Plan } from "./action.js";
import type { Values } from "./asking.js";

/** The operations of an action; objects of which the same is wanted are one step. */
export function planOf(
  action: Action,
  objects: readonly ObjectRow[],
  values: Values,
): Plan {
  const steps = new Map<string, { order: Order; objects: ObjectRow[] }>();
  for (const object of objects) {
    const order = action.order?.(object, values);
    if (order === undefined) continue;
    const key = JSON.stringify(order);
    const step = steps.get(key) ?? { order, objects: [] };
    step.objects.push(object);
    steps.set(key, step);
  }
  return { steps: [...steps.values()] };
}
