import type { OperationTable } from "../../operation.js";
import { internalError } from "../../xapi-failure.js";
import { textParam } from "../../records/fields.js";

export const secretOperations: OperationTable = {
  "secret.introduce": ({ db }, params) => {
    const [uuid, value] = [textParam(params, 0), textParam(params, 1)];
    if (db.byUuid("secret", uuid) !== undefined)
      throw internalError(
        `Db_exn.Uniqueness_constraint_violation("secret", "uuid", "${uuid}")`,
      );
    return db.create("secret", { uuid, value });
  },
};
