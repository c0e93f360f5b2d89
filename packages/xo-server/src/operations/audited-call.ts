import type { CallContext, Operation } from "./operation.js";

/** A call as the audit log records it. */
export interface AuditedChange {
  readonly operation: Pick<Operation, "name" | "permission">;
  readonly params: object;
  readonly context: CallContext;
}

export type Outcome = AuditedCall["outcome"];

export interface AuditedCall extends AuditedChange {
  readonly outcome: { readonly result: unknown } | { readonly error: Error };
}
