import type { Authenticator } from "../../auth/authenticator.js";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Permission } from "../../operations/operation.js";

/** What a route needs that signs a user in. */
export interface LoginOptions {
  readonly authenticator: Authenticator | undefined;
  readonly anonymous: Permission;
  readonly dispatcher: Dispatcher;
}
