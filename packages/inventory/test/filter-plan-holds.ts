import type { FilterPlan } from "../src/filter/analyse-filter.js";
import { valueAt } from "../src/filter/property-path.js";

/** Whether an object matches a plan, evaluated without columns. */
export function holds(plan: FilterPlan, object: unknown): boolean {
  switch (plan.kind) {
    case "and":
      return plan.parts.every((part) => holds(part, object));
    case "or":
      return plan.parts.some((part) => holds(part, object));
    case "not":
      return !holds(plan.part, object);
    case "path":
      return plan.test(valueAt(object, plan.path));
    case "object":
      return plan.test(object);
  }
}
