import { Type, type Static } from "typebox";
import { activityKinds } from "../../activity/activity-entry.js";
import { readableTo } from "../../objects/readable.js";
import { defineOperation } from "../definition/define-operation.js";

const id = Type.String({ minLength: 1, maxLength: 1024 });
const Related = Type.Object({
  id: Type.String(),
  type: Type.String(),
  name: Type.String({ description: "Name of the object at that time." }),
});

const Entry = Type.Object({
  seq: Type.Integer({
    description: "Sequence number, increases with each entry.",
  }),
  time: Type.Integer({ description: "Time, in ms since the epoch." }),
  kind: Type.Enum(activityKinds),
  objectId: Type.String(),
  type: Type.String(),
  name: Type.String(),
  pool: Type.Optional(Type.String()),
  was: Type.Optional(Type.String({ description: "Previous name." })),
  of: Type.Optional(Related),
  from: Type.Optional(Related),
  to: Type.Optional(Related),
  by: Type.Optional(
    Type.Object({
      userId: Type.String(),
      userName: Type.String(),
      operation: Type.String(),
      taskId: Type.Optional(Type.String()),
    }),
  ),
});

const Result = Type.Object({
  entries: Type.Array(Entry),
  before: Type.Optional(
    Type.Integer({
      description:
        "Value of `before` for the next page; absent on the last page.",
    }),
  ),
});

const activityList = defineOperation({
  name: "activity.list",
  summary:
    "List events in the pools since the start of the server, at most of the last day, newest first.",
  params: Type.Object(
    {
      since: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            "Only events at or after this time, in ms since the epoch.",
        }),
      ),
      before: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: "Only events before this sequence number (seq).",
        }),
      ),
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: "Only events after this sequence number (seq).",
        }),
      ),
      object: Type.Optional(id),
      pool: Type.Optional(id),
      kinds: Type.Optional(
        Type.Array(Type.Enum(activityKinds), {
          maxItems: activityKinds.length,
          description: "Only events of these kinds. Default: all.",
        }),
      ),
      limit: Type.Integer({
        minimum: 1,
        maximum: 500,
        default: 100,
        description: "Maximum number of events.",
      }),
    },
    { additionalProperties: false },
  ),
  result: Result,
  permission: "viewer",
  async handler(question, context): Promise<Static<typeof Result>> {
    const { user } = context;
    const { entries, hasMore } = await context.services.activity.list(
      question,
      {
        readable: readableTo(context),
        userId: user?.id,
        isAdmin: user?.isAdmin === true,
      },
    );
    const before = entries.at(-1)?.seq;
    return {
      entries,
      ...(hasMore && before !== undefined ? { before } : {}),
    };
  },
});

const activitySubscribe = defineOperation({
  name: "activity.subscribe",
  summary:
    "Subscribe to notifications `activity` {}, sent when there are new events.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler(_, { services, client }) {
    services.activityListeners.add(client);
    return true;
  },
});

const activityUnsubscribe = defineOperation({
  name: "activity.unsubscribe",
  summary:
    "Unsubscribe from `activity` notifications. Returns false if there is no subscription.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler: (_, { services, client }) =>
    services.activityListeners.delete(client),
});

/** Recent activity of the objects that the caller may read. */
export const activityOperations = [
  activityList,
  activitySubscribe,
  activityUnsubscribe,
];
