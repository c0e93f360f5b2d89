import { XoError } from "@xo-server/model";
import type { Job } from "@xo-server/store";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";

/** The user whose rights a job has. @throws XoError FORBIDDEN: the user was deleted */
export function userOfJob(
  users: Pick<AuthenticatedUsers, "get">,
  { userId }: Pick<Job, "userId">,
): AuthenticatedUser {
  const user = userId === undefined ? undefined : users.get(userId);
  if (user !== undefined) return user;
  throw new XoError("FORBIDDEN", {
    reason: "the user of the job was deleted",
  });
}
