import { collections, type Collection } from "./collections.js";
import {
  failures,
  jsonType,
  listContent,
  listParameters,
  objectContent,
  pathParameter,
  success,
  type Json,
} from "./open-api-parts.js";
import { taggedCollections } from "./tag-routes.js";
import { toHref } from "./rest-path.js";
import { vmActions, type VmAction } from "./vm-actions.js";

const TASK = "mh0abc12-0123456789ab";

const task: Json = {
  id: TASK,
  status: "success",
  start: 1_767_225_600_000,
  end: 1_767_225_600_500,
  properties: { name: "REST API: start VM" },
};

const flag = { type: "boolean" } as const;

/** Actions, the tasks that they begin, and tags. */
export function describeActions(): ReadonlyMap<string, Json> {
  return new Map<string, Json>([
    ["/tasks", { get: describeTasks("GetTasks", "tasks", []) }],
    ["/tasks/{id}", { get: getTask }],
    ...collections
      .filter(({ subCollections }) => subCollections.length > 0)
      .map(describeTasksOf),
    ...vmActions.map((action): [string, Json] => [
      `/vms/{id}/actions/${action.action}`,
      { post: describeAction(action) },
    ]),
    ...taggedCollections.map(describeTags),
  ]);
}

function describeTasks(
  operationId: string,
  tag: string,
  parameters: readonly Json[],
): Json {
  const example = { ...task, href: toHref("tasks", TASK) };
  return {
    operationId,
    summary: "What has been asked for lately, and how it ended",
    tags: [tag],
    "x-mcp-exposure": "allow",
    parameters: [...parameters, ...listParameters],
    responses: {
      ...success(200, listContent(example)),
      ...failures([400, 401, 403, 404, 422]),
    },
  };
}

function describeTasksOf({ name, operationIds }: Collection): [string, Json] {
  const id = `${operationIds.get}Tasks`;
  const get = describeTasks(id, name, [pathParameter("id")]);
  return [`/${name}/{id}/tasks`, { get }];
}

const getTask: Json = {
  operationId: "GetTask",
  summary: "One task, by its id",
  tags: ["tasks"],
  "x-mcp-exposure": "allow",
  parameters: [
    pathParameter("id"),
    {
      name: "wait",
      in: "query",
      description: "Answers when it has ended.",
      schema: flag,
    },
  ],
  responses: {
    ...success(200, objectContent({ type: "object" }, task)),
    ...failures([400, 401, 404, 422]),
  },
};

function describeAction(action: VmAction): Json {
  const { operationId, summary, body = {}, creates } = action;
  const properties = Object.fromEntries(
    Object.keys(body).map((key) => [key, { type: "string" }]),
  );
  const schema = { type: "object", properties, additionalProperties: false };
  return {
    operationId,
    summary,
    tags: ["vms"],
    "x-mcp-exposure": "confirm",
    parameters: [
      pathParameter("id"),
      {
        name: "sync",
        in: "query",
        description: "Answers when it is done, without a task.",
        schema: flag,
      },
    ],
    requestBody: { content: { [jsonType]: { schema } } },
    responses: {
      ...success(202, objectContent({ type: "object" }, { taskId: TASK })),
      ...(creates === undefined
        ? success(204)
        : success(201, objectContent({ type: "object" }, undefined))),
      ...failures([400, 401, 403, 404, 422, 500]),
    },
  };
}

function describeTags({ name, operationIds }: Collection): [string, Json] {
  const noun = operationIds.get.replace(/^Get/, "");
  const describe = (operationId: string, summary: string): Json => ({
    operationId,
    summary,
    tags: [name],
    "x-mcp-exposure": "confirm",
    parameters: [pathParameter("id"), pathParameter("tag")],
    responses: { ...success(204), ...failures([400, 401, 403, 404]) },
  });
  return [
    `/${name}/{id}/tags/{tag}`,
    {
      put: describe(`Put${noun}Tag`, "Gives it a tag"),
      delete: describe(`Delete${noun}Tag`, "Takes a tag from it"),
    },
  ];
}
