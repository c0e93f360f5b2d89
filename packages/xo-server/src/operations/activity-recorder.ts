import type { CallContext, Operation } from "./operation.js";

/** A change whose parameters and rights have been checked. */
export interface RecordedCall {
  readonly operation: Pick<Operation, "name" | "permission">;
  /** Checked against the schema. */
  readonly params: object;
  readonly context: CallContext;
}

/** Records the begin and the end of changes. Never throws. */
export interface ActivityRecorder {
  /** @returns to be called at the end, with the result if the change succeeded */
  begin(call: RecordedCall): (result?: unknown) => void;
}
