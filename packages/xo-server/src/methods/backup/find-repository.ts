import { XoError } from "@xo-server/model";
import type { RepositoryRecord } from "../../backups/repositories/repository-record.js";
import type { Action } from "../../rights/actions.js";
import type { OperationContext } from "../definition/define-operation.js";

/** Type of backup repositories in rights. */
export const REPOSITORY_TYPE = "backup-repository";

type Caller = Pick<OperationContext, "services" | "user">;

/** Whether the caller has a right on a repository. Rights may name its id, name or URL. */
export function mayUse(
  { user }: Caller,
  action: Action,
  { id, name, url }: RepositoryRecord,
): boolean {
  const object = { id, type: REPOSITORY_TYPE, name, url };
  return user?.rights.may(action, REPOSITORY_TYPE, object) === true;
}

/**
 * A repository on which the caller has a right.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN
 */
export function findRepository(
  caller: Caller,
  action: Action,
  id: string,
): RepositoryRecord {
  const record = caller.services.backupRepositories.get(id);
  if (!mayUse(caller, "read", record))
    throw new XoError("NO_SUCH_OBJECT", { type: "backup repository", id });
  if (mayUse(caller, action, record)) return record;
  const object = { id, type: REPOSITORY_TYPE };
  throw new XoError("FORBIDDEN", {
    permission: action,
    object,
    missingPrivileges: [{ objectId: id, action, resource: REPOSITORY_TYPE }],
  });
}
