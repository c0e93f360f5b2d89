import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { VisibleStatus } from "../../status/status.js";

const statusSubscribe = defineOperation({
  name: "status.subscribe",
  summary:
    "Subscribe to the status of the server and of the pools that the caller may read. Returns the current status; notifications `status` {revision, base, patch} follow (patch: RFC 7386), or {revision, status} after a gap.",
  params: Type.Object({}),
  result: Type.Object({ revision: Type.Integer(), status: VisibleStatus }),
  permission: "guest",
  handler: (_, { services, client }) => services.statusFeed.subscribe(client),
});

const statusUnsubscribe = defineOperation({
  name: "status.unsubscribe",
  summary:
    "Unsubscribe from `status` notifications. Returns false if there is no subscription.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "guest",
  handler: (_, { services, client }) => services.statusFeed.unsubscribe(client),
});

export const statusOperations = [statusSubscribe, statusUnsubscribe];
