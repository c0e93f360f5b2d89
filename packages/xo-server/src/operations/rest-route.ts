/** Route of an operation in the REST API. */
export interface RestRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /**
   * Under /rest/v0; `{id}` is a parameter of the operation: `/vms/{id}/actions/start`. If the first
   * is an object of this folder, it is looked up there only.
   */
  readonly path: string;
  /** The name by which tools built on the specification know it. */
  readonly operationId: string;
  /** Default: the operation's. */
  readonly summary?: string;
  /** Whether an assistant may use it: without or with confirmation, or not. Default: not. */
  readonly exposure?: "allow" | "confirm" | "deny";
  /**
   * Status of success. 201: the result is or has an id, and `Location` is the
   * path of its object. Default: 200, or 204 without a result.
   */
  readonly status?: 200 | 201 | 204;
  /** The operation offers a one-time path: the transfer runs here immediately, in bytes. */
  readonly isTransfer?: boolean;
  /** Answers 202 with a task, unless `?sync` is set. */
  readonly isAction?: boolean;
  /** Folder of the object whose id the result is, or has as `id`. Default: the one that the path names, with status 201. */
  readonly creates?: string;
  /** Power state that the object must be in, where the operation would take others. */
  readonly from?: string;
  /** Parameters that are the same in every request here, and not taken from it. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Parameter by key of the body, where they differ. */
  readonly body?: Readonly<Record<string, string>>;
  /** A result, for the specification: assistants take its keys as default fields. */
  readonly example?: unknown;
}
