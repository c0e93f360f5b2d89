import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { TaskContext } from "../tasks/task-context.js";
import { noClient } from "../auth/sessions/client.js";
import { permissionOf, type CallContext } from "./operation.js";

/**
 * The context of a call that the server makes for a user: for a job, or for an
 * interrupted task that is resumed.
 */
export function onBehalfOf(
  user: AuthenticatedUser,
  task?: TaskContext,
): CallContext {
  return {
    user,
    permission: permissionOf(user),
    client: noClient,
    address: "",
    ...(task === undefined ? {} : { task }),
  };
}
