import { Type } from "typebox";
import { JsonStream } from "../encoding/raw-json.js";
import type { OneTimePaths } from "../transfers/one-time-paths.js";
import type { ObjectListing } from "../objects/object-listing.js";
import type { ObjectNotices } from "../objects/object-notices.js";
import { readableTo } from "../objects/readable.js";
import { defineOperation } from "./define-operation.js";

export interface XoMethodsOptions {
  readonly listing: ObjectListing;
  readonly notices: ObjectNotices;
  readonly paths: OneTimePaths;
}

export const xoGetAllObjects = defineOperation({
  name: "xo.getAllObjects",
  summary:
    "All objects that match, by id; notifications `all` {type: enter | exit, items} follow. For less: query.page, query.open.",
  params: Type.Object({
    filter: Type.Optional(
      Type.Union([Type.String({ maxLength: 16_384 }), Type.Object({})], {
        description:
          "A filter such as `power_state:running`, or a pattern such as {type: VM}.",
      }),
    ),
    limit: Type.Optional(Type.Number({ minimum: 0 })),
    ndjson: Type.Optional(
      Type.Boolean({
        description: "Answers {$getFrom: path} of one object a line.",
      }),
    ),
  }),
  result: Type.Unsafe<JsonStream | { $getFrom: string }>(Type.Object({})),
  permission: "viewer",
  handler: ({ filter, limit, ndjson }, context) => {
    const readable = readableTo(context);
    const request = { filter, limit, readable };
    if (ndjson === true)
      return context.services.oneTimePaths.offer({
        type: "application/json",
        body: context.services.objectListing.list({
          ...request,
          format: "lines",
        }),
      });
    // Before the first object is read: nothing is missed in between.
    const outlook = context.services.objectNotices.follow(context.client);
    return new JsonStream(
      context.services.objectListing.list({
        ...request,
        format: "members",
        outlook,
      }),
      (part) => {
        context.services.objectListing.giveBack(part);
      },
    );
  },
});

export const allSubscribe = defineOperation({
  name: "all.subscribe",
  summary:
    "Notifications `all` {type: enter | exit, items} of what changes from now on. Who signs in gets them without asking.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler: (_, { services, client }) => {
    services.objectNotices.subscribe(client);
    return true;
  },
});

export const allUnsubscribe = defineOperation({
  name: "all.unsubscribe",
  summary:
    "No notifications `all` on this connection, not after signing in either; false when there were none.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "guest",
  handler: (_, { services, client }) =>
    services.objectNotices.unsubscribe(client),
});

/** All objects at once, and what becomes of them: for clients that keep a copy of everything. */
export const xoOperations = [xoGetAllObjects, allSubscribe, allUnsubscribe];
