import type { Layout } from "../layout/layout.js";
import { Chooser } from "../place/chooser.js";
import type { ActiveRules } from "./problem.js";

/** All rules, as they are asked when something is placed. */
export function allRules(layout: Layout): ActiveRules {
  const chooser = new Chooser(layout);
  return {
    memory: true,
    vcpus: true,
    device: () => true,
    group: () => true,
    refuses: (vm, host) => !chooser.allows(vm, host),
  };
}
