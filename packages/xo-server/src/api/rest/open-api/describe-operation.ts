import type { RestRoute } from "../../../operations/rest-route.js";
import {
  exampleTask,
  failures,
  jsonType,
  listContent,
  listParameters,
  objectContent,
  pathParameter,
  success,
  type Json,
} from "./parts.js";
import {
  isList,
  collectionNameOf,
  shownPath,
  type RestOperation,
} from "../operations/rest-operation.js";
import { pathNames } from "../operations/operation-parameters.js";

/** The OpenAPI description of an operation. */
export function describeOperation(operation: RestOperation): Json {
  const { rest, summary, permission } = operation;
  const isPublic = permission === "none";
  // Changes may also fail because of a conflict, a size limit or a full queue.
  const ofChanges = rest.method === "get" ? [] : [409, 413, 503];
  return {
    ...(isPublic ? { security: [] } : {}),
    operationId: rest.operationId,
    summary: rest.summary ?? summary,
    tags: [rest.path.split("/")[1] ?? collectionNameOf(rest)],
    "x-mcp-exposure": rest.exposure ?? "deny",
    ...describeInput(operation),
    responses: {
      ...describeSuccess(operation),
      ...failures([400, 401, 403, 404, ...ofChanges, 422]),
    },
  };
}

function describeInput(operation: RestOperation): Json {
  const { rest, params } = operation;
  const inPath = pathNames(rest.path);
  const schemas = params.properties as Readonly<Record<string, Json>>;
  const others = Object.keys(schemas).filter(
    (name) => !inPath.includes(name) && !Object.hasOwn(rest.params ?? {}, name),
  );
  const required = new Set((params.required ?? []) as readonly string[]);
  const path = [
    ...pathNames(shownPath(rest)).map(pathParameter),
    ...(rest.isAction === true ? [syncParameter] : []),
  ];
  const isTransfer = rest.isTransfer === true;
  if (rest.method === "get" || isTransfer || others.length === 0)
    return {
      ...(isTransfer && rest.method !== "get" ? { requestBody: bytes } : {}),
      parameters: [
        ...path,
        ...others.map((name) => ({
          name,
          in: "query",
          required: required.has(name),
          schema: schemas[name],
        })),
        ...(isList(operation) ? listParameters : []),
        ...(rest.hasLines === true ? [linesParameter] : []),
      ],
    };
  return {
    parameters: path,
    requestBody: describeBody(rest, others, { schemas, required }),
  };
}

function describeBody(
  rest: RestRoute,
  names: readonly string[],
  {
    schemas,
    required,
  }: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly required: ReadonlySet<string>;
  },
): Json {
  // The first key of a parameter is the documented one; further ones are accepted for some clients.
  const keys = new Map<string, string>();
  for (const [key, name] of Object.entries(rest.body ?? {}))
    if (!keys.has(name)) keys.set(name, key);
  const keyOf = (name: string) => keys.get(name) ?? name;
  const needed = names.filter((name) => required.has(name)).map(keyOf);
  return {
    required: needed.length > 0,
    content: {
      [jsonType]: {
        schema: {
          type: "object",
          additionalProperties: false,
          properties: Object.fromEntries(
            names.map((name) => [keyOf(name), schemas[name]]),
          ),
          ...(needed.length === 0 ? {} : { required: needed }),
        },
      },
    },
  };
}

const bytes: Json = {
  required: true,
  content: {
    "application/octet-stream": {
      schema: { type: "string", format: "binary" },
    },
  },
};

const linesParameter: Json = {
  name: "ndjson",
  in: "query",
  description: "Each member of the result as one line of JSON.",
  schema: { type: "boolean" },
};

const syncParameter: Json = {
  name: "sync",
  in: "query",
  description:
    "Respond with the result when the action has finished, instead of a task.",
  schema: { type: "boolean" },
};

function describeAction({ rest, result }: RestOperation): Json {
  const { type } = result as { readonly type?: unknown };
  return {
    ...success(202, objectContent({ type: "object" }, { taskId: exampleTask })),
    ...(rest.creates !== undefined
      ? success(201, objectContent(created, rest.example))
      : type === "object"
        ? success(200, objectContent({ ...(result as Json) }, rest.example))
        : success(204)),
    ...failures([500]),
  };
}

const created: Json = {
  type: "object",
  properties: { id: { type: "string" } },
};

function describeTransfer({ method, creates, example }: RestRoute): Json {
  if (method === "get") return success(200, bytes["content"] as Json);
  if (creates === undefined) return success(204);
  return success(201, objectContent(created, example));
}

function describeSuccess(operation: RestOperation): Json {
  const { rest, result } = operation;
  if (rest.isAction === true) return describeAction(operation);
  if (rest.isTransfer === true) return describeTransfer(rest);
  const { type } = result as { readonly type?: unknown };
  const status = rest.status ?? (type === "boolean" ? 204 : 200);
  if (status === 204) return success(204);
  const example = Array.isArray(rest.example)
    ? (rest.example[0] as unknown)
    : rest.example;
  if (isList(operation)) return success(status, listContent(example ?? {}));
  const schema: Json =
    status === 201 && type === "string" ? created : { ...(result as Json) };
  return success(status, objectContent(schema, rest.example));
}
