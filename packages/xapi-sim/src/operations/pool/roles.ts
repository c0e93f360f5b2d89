import type { Database } from "../../database.js";
import type { OperationTable } from "../../operation.js";
import { flag, refs, text, textParam } from "../../records/fields.js";

export const roleOperations: OperationTable = {
  "role.get_permissions": ({ db }, params) =>
    permissionsOf(db, textParam(params, 0)),
  "role.get_permissions_name_label": ({ db }, params) =>
    permissionsOf(db, textParam(params, 0)).map((ref) =>
      text(db.get("role", ref), "name_label"),
    ),
  "role.get_by_permission": ({ db }, params) =>
    rolesWith(db, (ref) => ref === textParam(params, 0)),
  "role.get_by_permission_name_label": ({ db }, params) =>
    rolesWith(
      db,
      (ref) => db.find("role", ref)?.["name_label"] === textParam(params, 0),
    ),
};

/** A permission is a role of its own. @throws XapiFailure HANDLE_INVALID */
export function permissionsOf(db: Database, role: string): readonly string[] {
  const record = db.get("role", role);
  return flag(record, "is_internal") ? [role] : refs(record, "subroles");
}

function rolesWith(
  db: Database,
  isIt: (permission: string) => boolean,
): readonly string[] {
  return [...db.records("role")]
    .filter(([, role]) => refs(role, "subroles").some(isIt))
    .map(([ref]) => ref);
}
