/** Route of an operation in the REST API. */
export interface RestRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /**
   * Path under /rest/v0; `{id}` is a parameter of the operation:
   * `/vms/{id}/actions/start`. If the first segment is a collection, the object is
   * only searched in that collection.
   */
  readonly path: string;
  /** Operation id of the OpenAPI document, which tools use as name. */
  readonly operationId: string;
  /** Default: the summary of the operation. */
  readonly summary?: string;
  /**
   * Whether AI assistants may use the route: without confirmation, with
   * confirmation, or not. Default: not.
   */
  readonly exposure?: "allow" | "confirm" | "deny";
  /**
   * Status of a successful response. 201: the result is, or has, the id of a new
   * object, whose path is in `Location`. Default: 200, or 204 without a result.
   */
  readonly status?: 200 | 201 | 204;
  /**
   * Whether the operation offers a one-time path: the bytes are transferred by this
   * request instead.
   */
  readonly isTransfer?: boolean;
  /** Whether the response is 202 with a task, unless `?sync` is set. */
  readonly isAction?: boolean;
  /**
   * Collection of the object whose id is the result, or its member `id`. Default:
   * the collection in the path, with status 201.
   */
  readonly creates?: string;
  /** Required power state of the object, if the operation accepts others too. */
  readonly from?: string;
  /** Parameters with fixed values, which are not taken from the request. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Parameters by their key in the body, where the names differ. */
  readonly body?: Readonly<Record<string, string>>;
  /** Whether `ndjson=true` sends each member of the result as a line: `{"vms": {…}}`. */
  readonly hasLines?: boolean;
  /** Example of a result in the OpenAPI document; AI assistants use its keys as default fields. */
  readonly example?: unknown;
}
