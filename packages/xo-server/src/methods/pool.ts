import { Type } from "typebox";
import { defineOperation } from "./define-operation.js";
import { PoolStatus } from "../status/status.js";

export const poolListStatus = defineOperation({
  name: "pool.listStatus",
  summary: "Each pool: its state, how many objects it has, how fresh they are.",
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
