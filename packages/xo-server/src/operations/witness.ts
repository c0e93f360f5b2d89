import type { CallContext, Operation } from "./operation.js";

/** A change that somebody has been allowed to make. */
export interface WitnessedCall {
  readonly operation: Pick<Operation, "name" | "permission">;
  /** They have been checked. */
  readonly params: object;
  readonly context: CallContext;
}

/** Sees changes begin and end. Never throws. */
export interface Witness {
  /** @returns to be called at its end, with the result where it has gone well */
  begin(call: WitnessedCall): (result?: unknown) => void;
}
