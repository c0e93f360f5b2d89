import { Type } from "typebox";
import { defineOperation } from "./define-operation.js";
import { PoolStatus } from "../status/status.js";

export const poolListStatus = defineOperation({
  name: "pool.listStatus",
  summary:
    "Lists the pools with their connection state, number of objects and age of the data.",
  params: Type.Object({
    state: Type.Optional(
      Type.String({ description: "Only pools in this state." }),
    ),
  }),
  result: Type.Array(PoolStatus),
  permission: "guest",
  handler: ({ state }, { services }) =>
    services.pools
      .list()
      .filter((pool) => state === undefined || pool.state === state),
});

export const poolOperations = [poolListStatus];
