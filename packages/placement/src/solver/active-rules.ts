import type { Assignment } from "../assignment/assignment.js";
import { HostSelector } from "../place/host-selector.js";
import type { ActiveRules } from "./problem.js";

/** All rules of the model, as hosts apply them to a VM. */
export function allRules(assignment: Assignment): ActiveRules {
  const selector = new HostSelector(assignment);
  return {
    memory: true,
    vcpus: true,
    device: () => true,
    group: () => true,
    refuses: (vm, host) => !selector.allows(vm, host),
  };
}
