/** Where an operation is found in the REST API. */
export interface RestRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Under /rest/v0; `{id}` names a parameter of the operation: `/vms/{id}/actions/start`. */
  readonly path: string;
  /** The name by which tools built on the specification know it. */
  readonly operationId: string;
  /** Whether an assistant may use it: at once, after confirmation, or not. Default: not. */
  readonly exposure?: "allow" | "confirm" | "deny";
  /** Of success. 201: the result is an id or has one, and `Location` tells its object. Default: 200, 204 where there is no result. */
  readonly status?: 200 | 201 | 204;
  /** Answers 202 with a task, unless asked to wait (`?sync`). */
  readonly isAction?: boolean;
  /** Parameter by key of the body, where they differ. */
  readonly body?: Readonly<Record<string, string>>;
  /** A result, for the specification: assistants take its keys as default fields. */
  readonly example?: unknown;
}
