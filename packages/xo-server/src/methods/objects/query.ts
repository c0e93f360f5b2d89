import { Type } from "typebox";
import { readableTo } from "../../objects/readable.js";
import {
  checkRequestedProperties,
  topLevelOf,
  type NamedProperties,
} from "../../objects/known-properties.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { arrayPieces, objectPieces, RawJson } from "../../encoding/raw-json.js";

const unsorted = {
  type: Type.String({
    minLength: 1,
    maxLength: 64,
    description: "Object type: VM, VM-template, host, SR, ...",
  }),
  filter: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description:
        "Filter expression, such as `power_state:running tags:(a b) !name_label:/re/`.",
    }),
  ),
  ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 1_000,
      description: "Only objects with these ids, which are looked up directly.",
    }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: 1024,
      description:
        "Words that must each occur in a name, description, address, tag or other searched property.",
    }),
  ),
};
const selection = {
  ...unsorted,
  sort: Type.Optional(
    Type.Array(
      Type.Object(
        {
          by: Type.String({
            minLength: 1,
            maxLength: 256,
            description:
              "Property to sort by, such as `name_label` or `memory.size`.",
          }),
          descending: Type.Optional(
            Type.Boolean({
              description: "Whether the order is descending. Default: false.",
            }),
          ),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: 8,
        description: "Order of the objects. Default: by name_label.",
      },
    ),
  ),
};
const fields = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 256,
    description: "Properties (top level) to return. Default: all.",
  }),
);
const name = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Name of the query, chosen by the client.",
});
const window = {
  offset: Type.Integer({
    minimum: 0,
    description: "Index of the first row of the window.",
  }),
  limit: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    description: "Maximum number of rows in the window.",
  }),
};
const details = Type.Optional(
  Type.Boolean({ description: "Returns an object with `complete`." }),
);
const isIncomplete = Type.Optional(Type.Literal(false));
const groups = Type.Array(
  Type.Object({ key: Type.Optional(Type.Unknown()), count: Type.Integer() }),
);
const Raw = Type.Unsafe<RawJson>(Type.Object({}));
const closed = { additionalProperties: false } as const;

const queryPage = defineOperation({
  name: "query.page",
  summary:
    "Return a page of the matching objects, sorted: {total, revision, next?, complete?, rows}. With `complete: false` a pool is still being loaded, and more objects may match.",
  params: Type.Object(
    {
      ...selection,
      fields,
      limit: Type.Integer({
        minimum: 0,
        maximum: 10_000,
        default: 100,
        description: "Maximum number of objects in the page.",
      }),
      after: Type.Optional(
        Type.String({
          maxLength: 8192,
          description: "`next` of the previous page.",
        }),
      ),
    },
    closed,
  ),
  result: Raw,
  permission: "viewer",
  handler: async (request, context) => {
    const { rows, total, revision, next } = await context.services.queries.page(
      await toQuery(request, context),
    );
    return new RawJson(
      objectPieces({ total, revision, next, ...completeness(context) }, [
        ["rows", arrayPieces(rows)],
      ]),
    );
  },
});

const queryCount = defineOperation({
  name: "query.count",
  summary:
    "Return the number of matching objects; with `details`: {count, complete?}. With `complete: false` a pool is still being loaded, and more objects may match.",
  params: Type.Object({ ...selection, details }, closed),
  result: Type.Union([
    Type.Integer(),
    Type.Object({ count: Type.Integer(), complete: isIncomplete }),
  ]),
  permission: "viewer",
  handler: async ({ details = false, ...request }, context) => {
    const query = await toQuery(request, context);
    const count = await context.services.queries.count(query);
    return details ? { count, ...completeness(context) } : count;
  },
});

const queryGroup = defineOperation({
  name: "query.group",
  summary:
    "Return the number of matching objects for each value of a property: $pool, $container, power_state, tags, ... With `details`: {total, groups, complete?}; an object with several values (tags) is counted in several groups, and once in `total`.",
  params: Type.Object(
    {
      ...selection,
      by: Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Property whose values are counted.",
      }),
      details,
    },
    closed,
  ),
  result: Type.Union([
    groups,
    Type.Object({ total: Type.Integer(), groups, complete: isIncomplete }),
  ]),
  permission: "viewer",
  handler: async ({ by, details = false, ...request }, context) => {
    const { queries } = context.services;
    const query = await toQuery({ ...request, paths: [by] }, context);
    const groups = [...(await queries.group(query, by))];
    if (!details) return groups;
    const total = await queries.count(query);
    return { total, groups, ...completeness(context) };
  },
});

const queryColumns = defineOperation({
  name: "query.columns",
  summary:
    "Return some properties of many objects as columns, unordered: {revision, total, state, ids?, complete?, columns}. With `complete: false` a pool is still being loaded. A column is {values}; {values, indexes} if values are repeated often (the value of an object is `values[index]`); or {step, values} for `now.*` (integer multiples of step, null if missing). With `known` only changes since that response are returned.",
  params: Type.Object(
    {
      ...unsorted,
      paths: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 8,
        description:
          "Properties to return, such as `name_label`, `memory.size` or `now.cpu`.",
      }),
      known: Type.Optional(
        Type.String({
          maxLength: 8192,
          description:
            "`state` of the previous response. The ids are omitted if they have not changed, and a column if none of its values has changed.",
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 200_000,
          description: "Maximum number of objects.",
        }),
      ),
    },
    closed,
  ),
  result: Raw,
  permission: "viewer",
  handler: async (request, context) => {
    const { ids, columns, ...about } = await context.services.queries.columns(
      await toQuery(request, context),
    );
    return new RawJson(
      objectPieces({ ...about, ...completeness(context) }, [
        ...(ids === undefined ? [] : [["ids", ids] as const]),
        ["columns", objectPieces({}, [...columns])],
      ]),
    );
  },
});

const queryOpen = defineOperation({
  name: "query.open",
  summary:
    "Subscribe to a window of a sorted result. Returns the whole window; notifications `query` {name, revision, total, offset, splice?, objects, patches, digest, complete?} contain the differences (patches: RFC 7386), with `reset` after a gap. `complete` is false, in the response and after `reset`, while a pool is still being loaded; afterwards it is sent when it changes.",
  params: Type.Object({ name, ...selection, ...window, fields }, closed),
  result: Raw,
  permission: "viewer",
  handler: async ({ name, ...request }, context) => {
    const { answered } = context;
    const terms = { name, readable: readableTo(context), answered };
    const { queries, clientQueries } = context.services;
    await checkRequestedProperties(request, queries);
    const query = withTopLevelFields(request);
    return new RawJson(await clientQueries.open(context.client, terms, query));
  },
});

const queryChange = defineOperation({
  name: "query.change",
  summary:
    "Change the window, filter or order of a query. The next notification contains the difference.",
  params: Type.Object(
    {
      name,
      ...Type.Partial(Type.Object({ ...selection, ...window, fields }))
        .properties,
    },
    closed,
  ),
  result: Type.Boolean(),
  permission: "viewer",
  handler: async ({ name, ...requested }, { services, client }) => {
    await checkRequestedProperties(requested, services.queries);
    const change = withTopLevelFields(requested);
    await services.clientQueries.change(client, name, change);
    return true;
  },
});

const queryClose = defineOperation({
  name: "query.close",
  summary:
    "Close a query: no more notifications are sent. Returns false if it was not open.",
  params: Type.Object({ name }, closed),
  result: Type.Boolean(),
  permission: "viewer",
  handler: ({ name }, { services, client }) =>
    services.clientQueries.close(client, name),
});

/** `complete: false` while a pool is listed for the first time or restored from its snapshot. */
function completeness({ services }: Pick<OperationContext, "services">): {
  complete?: false;
} {
  return services.completeness.isComplete ? {} : { complete: false };
}

/**
 * Limits a query to the objects that the caller may read.
 * @throws XoError INVALID_PARAMETERS: a property that does not exist
 */
async function toQuery<T extends NamedProperties & { readonly type: string }>(
  request: T,
  context: OperationContext,
) {
  await checkRequestedProperties(request, context.services.queries);
  const query = withTopLevelFields(request);
  const where = readableTo(context)(request.type);
  return where === undefined ? query : { ...query, where };
}

/** Objects have top-level fields: `memory.size` requests `memory`. */
function withTopLevelFields<T extends { readonly fields?: readonly string[] }>(
  request: T,
): T {
  const { fields } = request;
  if (fields === undefined) return request;
  const names = fields.map((path) =>
    topLevelOf(path) === "now" ? path.replace(":", ".") : topLevelOf(path),
  );
  return { ...request, fields: [...new Set(names)] };
}

/** Queries on all objects of all pools, once or live. */
export const queryOperations = [
  queryPage,
  queryCount,
  queryGroup,
  queryColumns,
  queryOpen,
  queryChange,
  queryClose,
];
