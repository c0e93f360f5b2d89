import { Type } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";
import { Status } from "../status/status.js";
import type { StatusFeed } from "../status/status-feed.js";

export function statusMethods(feed: StatusFeed): Operation[] {
  return [
    defineOperation({
      name: "status.subscribe",
      summary:
        "The status as it is now; notifications `status` {revision, base, patch} follow (patch: RFC 7386), or {revision, status} after a gap.",
      params: Type.Object({}),
      result: Type.Object({ revision: Type.Integer(), status: Status }),
      permission: "guest",
      handler: (_, { client }) => feed.subscribe(client),
    }),
    defineOperation({
      name: "status.unsubscribe",
      summary: "No more notifications `status`; false when there were none.",
      params: Type.Object({}),
      result: Type.Boolean(),
      permission: "guest",
      handler: (_, { client }) => feed.unsubscribe(client),
    }),
  ];
}
