import {
  collections,
  type Collection,
  type SubCollection,
} from "../collections/collections.js";
import {
  failures,
  listContent,
  listParameters,
  objectContent,
  pathParameter,
  ref,
  success,
  withArticle,
  type Json,
} from "./parts.js";
import { toHref } from "../routing/rest-path.js";

/** Path items of all collections. */
export function describeCollections(): ReadonlyMap<string, Json> {
  return new Map(collections.flatMap(describe));
}

function describe(collection: Collection): [string, Json][] {
  const { name } = collection;
  return [
    [`/${name}`, { get: describeList(collection) }],
    [`/${name}/{id}`, { get: describeGet(collection) }],
    ...collection.subCollections.map((sub): [string, Json] => [
      `/${name}/{id}/${sub}`,
      { get: describeSub(collection, sub) },
    ]),
  ];
}

function describeList({ name, type, operationIds, example }: Collection): Json {
  return {
    operationId: operationIds.list,
    summary: `List ${type === "message" ? name : `${type} objects`} of all pools.`,
    tags: [name],
    "x-mcp-exposure": "allow",
    parameters: listParameters,
    responses: {
      ...success(200, listContent(withHref(name, example))),
      ...failures([400, 401, 422]),
    },
  };
}

function describeGet({ name, type, operationIds, example }: Collection): Json {
  return {
    operationId: operationIds.get,
    summary: `Return ${withArticle(name === "alarms" ? "alarm" : type)}.`,
    tags: [name],
    "x-mcp-exposure": "allow",
    parameters: [pathParameter("id")],
    responses: {
      ...success(200, objectContent(ref("schemas/Object"), example)),
      ...failures([400, 401, 403, 404]),
    },
  };
}

const subNames: Readonly<Record<SubCollection, string>> = {
  alarms: "Alarms",
  messages: "Messages",
  vdis: "Vdis",
};

function describeSub(collection: Collection, sub: SubCollection): Json {
  const { operationIds, name, type } = collection;
  const own = collections.find((one) => one.name === sub)!;
  return {
    operationId:
      sub === "messages"
        ? operationIds.messages
        : `${operationIds.get}${subNames[sub]}`,
    summary: `List the ${sub === "vdis" ? "VDIs" : sub} of ${withArticle(type)}.`,
    tags: [name],
    "x-mcp-exposure": "allow",
    parameters: [pathParameter("id"), ...listParameters],
    responses: {
      ...success(200, listContent(withHref(sub, own.example))),
      ...failures([400, 401, 403, 404, 422]),
    },
  };
}

function withHref(name: string, example: Collection["example"]): Json {
  return { ...example, href: toHref(name, String(example["id"])) };
}
