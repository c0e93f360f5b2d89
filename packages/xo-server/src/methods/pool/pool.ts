import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { PoolStatus } from "../../status/status.js";

const poolListStatus = defineOperation({
  name: "pool.listStatus",
  summary:
    "List the pools that the caller may read, with their connection state, number of objects and age of the data.",
  params: Type.Object({
    state: Type.Optional(
      Type.String({ description: "Only pools in this state." }),
    ),
  }),
  result: Type.Array(PoolStatus),
  permission: "viewer",
  handler: ({ state }, context) =>
    Object.values(context.services.readVisibleStatus(context).pools).filter(
      (pool) =>
        pool.isRestricted !== true &&
        (state === undefined || pool.state === state),
    ),
});

export const poolOperations = [poolListStatus];
