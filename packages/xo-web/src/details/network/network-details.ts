import type { Network } from "../../objects/infrastructure.js";

/** What only the page of a network shows. */
export type NetworkDetails = Network & {
  readonly automatic: boolean;
  readonly defaultIsLocked: boolean;
  readonly nbd: boolean;
  readonly insecureNbd: boolean;
};
