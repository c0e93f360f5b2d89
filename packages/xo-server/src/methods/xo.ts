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
    "Returns all objects that match, by id. Afterwards the client gets notifications `all` {type: enter | exit, items}. For parts of a list: query.page, query.open.",
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
    // Subscribes before the first object is read: no change is missed.
    const subscription = context.services.objectNotices.follow(context.client);
    return new JsonStream(
      context.services.objectListing.list({
        ...request,
        format: "members",
        subscription,
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
    "Subscribes to notifications `all` {type: enter | exit, items} of changes of objects. Clients that list all objects (xo.getAllObjects) are subscribed automatically, and those that call nothing within 1 s after they have signed in.",
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
    "Unsubscribes from notifications `all`, also after signing in. Returns false if there was no subscription.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "guest",
  handler: (_, { services, client }) =>
    services.objectNotices.unsubscribe(client),
});

/** All objects and their changes, for clients that keep a full copy. */
export const xoOperations = [xoGetAllObjects, allSubscribe, allUnsubscribe];
