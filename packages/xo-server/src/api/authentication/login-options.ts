import type { Authenticator } from "../../auth/sign-in/authenticator.js";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Permission } from "../../operations/operation.js";

/** Services that routes need to sign a user in. */
export interface LoginOptions {
  readonly authenticator: Authenticator | undefined;
  readonly anonymous: Permission;
  readonly dispatcher: Dispatcher;
}
