import { collections, type Collection } from "../collections/collections.js";
import {
  exampleTask,
  failures,
  listContent,
  listParameters,
  objectContent,
  pathParameter,
  success,
  withArticle,
  type Json,
} from "./parts.js";
import { taggedCollections } from "../collections/tag-routes.js";
import { accountCollections } from "../tasks/task-routes.js";
import { toHref } from "../routing/rest-path.js";

const task: Json = {
  id: exampleTask,
  status: "success",
  start: 1_767_225_600_000,
  end: 1_767_225_600_500,
  progress: 100,
  properties: { name: "REST API: start VM" },
};

const flag = { type: "boolean" } as const;

const watch: Json = {
  name: "watch",
  in: "query",
  description:
    'With ndjson: after the list, a line `["update", task]` or `["remove", {id}]` for each change.',
  schema: flag,
};

/** Paths of tasks and tags. */
export function describeActions(): ReadonlyMap<string, Json> {
  return new Map<string, Json>([
    ["/tasks", { get: describeTasks("GetTasks", "tasks", [watch]) }],
    ["/tasks/{id}", { get: getTask }],
    ...collections
      .filter(({ subCollections }) => subCollections.length > 0)
      .map(({ name, operationIds }) =>
        describeTasksOf(name, `${operationIds.get}Tasks`),
      ),
    ...accountCollections.map(([folder, , operationId]) =>
      describeTasksOf(folder, operationId),
    ),
    ...taggedCollections.map(describeTags),
  ]);
}

function describeTasks(
  operationId: string,
  tag: string,
  parameters: readonly Json[],
): Json {
  const example = { ...task, href: toHref("tasks", exampleTask) };
  return {
    operationId,
    summary: "List tasks, newest first, with their status and result.",
    tags: [tag],
    "x-mcp-exposure": "allow",
    parameters: [...parameters, ...listParameters],
    responses: {
      ...success(200, listContent(example)),
      ...failures([400, 401, 403, 404, 422]),
    },
  };
}

function describeTasksOf(name: string, operationId: string): [string, Json] {
  const get = describeTasks(operationId, name, [pathParameter("id")]);
  return [`/${name}/{id}/tasks`, { get }];
}

const getTask: Json = {
  operationId: "GetTask",
  summary: "Return a task.",
  tags: ["tasks"],
  "x-mcp-exposure": "allow",
  parameters: [
    pathParameter("id"),
    {
      name: "wait",
      in: "query",
      description: "Respond when the task has ended.",
      schema: flag,
    },
  ],
  responses: {
    ...success(200, objectContent({ type: "object" }, task)),
    ...failures([400, 401, 404, 422]),
  },
};

function describeTags({
  name,
  type,
  operationIds,
}: Collection): [string, Json] {
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
      put: describe(`Put${noun}Tag`, `Add a tag to ${withArticle(type)}.`),
      delete: describe(
        `Delete${noun}Tag`,
        `Remove a tag from ${withArticle(type)}.`,
      ),
    },
  ];
}
