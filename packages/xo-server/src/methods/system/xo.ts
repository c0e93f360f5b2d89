import { Type } from "typebox";
import { JsonStream } from "../../encoding/raw-json.js";
import { readableTo } from "../../objects/readable.js";
import { defineOperation } from "../definition/define-operation.js";

const xoGetAllObjects = defineOperation({
  name: "xo.getAllObjects",
  summary:
    "Return all matching objects, by id, and subscribe the client to notifications `all` {type: enter | exit, items}. For parts of a list see query.page and query.open.",
  params: Type.Object({
    filter: Type.Optional(
      Type.Union([Type.String({ maxLength: 16_384 }), Type.Object({})], {
        description:
          "Filter expression such as `power_state:running`, or pattern such as {type: VM}.",
      }),
    ),
    limit: Type.Optional(
      Type.Number({ minimum: 0, description: "Maximum number of objects." }),
    ),
    ndjson: Type.Optional(
      Type.Boolean({
        description:
          "Returns {$getFrom: path} of a download with one object per line.",
      }),
    ),
  }),
  result: Type.Unsafe<JsonStream | { $getFrom: string }>(Type.Object({})),
  permission: "viewer",
  handler: ({ filter, limit, ndjson }, context) => {
    const readable = readableTo(context);
    const request = { filter, limit, readable };
    if (ndjson === true)
      return context.services.oneTimePaths.offer(
        {
          type: "application/json",
          body: context.services.objectListing.list({
            ...request,
            format: "lines",
          }),
        },
        context,
      );
    // Subscribes before the first object is read, so that no change is missed.
    const subscription = context.services.objectNotices.follow(context.client);
    return new JsonStream(
      context.services.objectListing.list({
        ...request,
        format: "members",
        subscription,
      }),
      (part) => {
        context.services.objectListing.recycle(part);
      },
    );
  },
});

const allSubscribe = defineOperation({
  name: "all.subscribe",
  summary:
    "Subscribe to notifications `all` {type: enter | exit, items} of changed objects. Clients that call xo.getAllObjects, or nothing within 1 s after signing in, are subscribed automatically.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler: (_, { services, client }) => {
    services.objectNotices.subscribe(client);
    return true;
  },
});

const allUnsubscribe = defineOperation({
  name: "all.unsubscribe",
  summary:
    "Unsubscribe from `all` notifications, including the automatic subscription. Returns false if there is no subscription.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "guest",
  handler: (_, { services, client }) =>
    services.objectNotices.unsubscribe(client),
});

/** All objects and their changes, for clients that keep a full copy. */
export const xoOperations = [xoGetAllObjects, allSubscribe, allUnsubscribe];
