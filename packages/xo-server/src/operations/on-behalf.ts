import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { Client } from "../auth/client.js";
import { permissionOf, type CallContext } from "./operation.js";

/** Nobody is connected: nothing can be sent, and there is no session that could end. */
export const nobody: Client = {
  session: undefined,
  setSession: () => undefined,
  trySend: () => false,
  close: () => undefined,
};

/** A call that no connection makes: that of a job, of a task that goes on after a restart. */
export function onBehalfOf(
  person: AuthenticatedUser,
  work?: TaskContext,
): CallContext {
  return {
    user: person,
    permission: permissionOf(person),
    client: nobody,
    address: "",
    ...(work === undefined ? {} : { task: work }),
  };
}
