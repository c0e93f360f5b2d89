import { Type } from "typebox";
import { JsonStream } from "../encoding/raw-json.js";
import type { OneTimePaths } from "../transfers/one-time-paths.js";
import type { ObjectListing } from "../objects/object-listing.js";
import type { ObjectNotices } from "../objects/object-notices.js";
import { readableTo } from "../objects/readable.js";
import { defineOperation, type Operation } from "../operations/operation.js";

export interface XoMethodsOptions {
  readonly listing: ObjectListing;
  readonly notices: ObjectNotices;
  readonly paths: OneTimePaths;
}

/** All objects at once, and what becomes of them: for clients that keep a copy of everything. */
export function xoMethods({
  listing,
  notices,
  paths,
}: XoMethodsOptions): Operation[] {
  return [
    defineOperation({
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
          return paths.offer({
            type: "application/json",
            body: listing.list({ ...request, format: "lines" }),
          });
        // Before the first object is read: nothing is missed in between.
        const outlook = notices.follow(context.client);
        return new JsonStream(
          listing.list({ ...request, format: "members", outlook }),
          (part) => {
            listing.giveBack(part);
          },
        );
      },
    }),
    defineOperation({
      name: "all.subscribe",
      summary:
        "Notifications `all` {type: enter | exit, items} of what changes from now on. Who signs in gets them without asking.",
      params: Type.Object({}),
      result: Type.Boolean(),
      permission: "viewer",
      handler: (_, { client }) => {
        notices.subscribe(client);
        return true;
      },
    }),
    defineOperation({
      name: "all.unsubscribe",
      summary:
        "No notifications `all` on this connection, not after signing in either; false when there were none.",
      params: Type.Object({}),
      result: Type.Boolean(),
      permission: "guest",
      handler: (_, { client }) => notices.unsubscribe(client),
    }),
  ];
}
