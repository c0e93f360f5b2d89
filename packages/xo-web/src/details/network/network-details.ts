import type { TrafficRule } from "../../objects/traffic-rule.js";
import type { Network } from "../../objects/infrastructure.js";

/** Properties that only the page of a network uses. */
export type NetworkDetails = Network & {
  readonly automatic: boolean;
  readonly defaultIsLocked: boolean;
  readonly nbd: boolean;
  readonly insecureNbd: boolean;
  readonly trafficRules?: readonly TrafficRule[];
};
