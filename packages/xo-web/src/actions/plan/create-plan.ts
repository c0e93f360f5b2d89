import type { ObjectRow } from "../../api/object-row.js";
import type { Action, OperationCall, Plan } from "./action.js";
import type { Values } from "./action-form.js";

/** The operations of an action; objects with the same parameters form one step. */
export function createPlan(
  action: Action,
  objects: readonly ObjectRow[],
  values: Values,
): Plan {
  const steps = new Map<
    string,
    { operation: OperationCall; objects: ObjectRow[] }
  >();
  for (const object of objects) {
    const operation = action.operation?.(object, values);
    if (operation === undefined) continue;
    const key = JSON.stringify(operation);
    const step = steps.get(key) ?? { operation, objects: [] };
    step.objects.push(object);
    steps.set(key, step);
  }
  return { steps: [...steps.values()] };
}
