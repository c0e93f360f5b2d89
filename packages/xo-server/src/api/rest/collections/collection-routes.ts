import type { Catalog, CatalogEntry, ViewObject } from "@xo-server/inventory";
import type { FastifyReply, FastifyRequest } from "fastify";
import { toAlarm } from "./alarms.js";
import { readCollection, readEntries } from "./collection-pages.js";
import { readListQuery } from "../lists/list-query.js";
import {
  collectionOf,
  collections,
  type Collection,
  type SubCollection,
} from "./collections.js";
import { findObject, type ObjectSources } from "./find-object.js";
import {
  callerOf,
  pathParameter,
  queryOf,
  type RestExchange,
} from "../routing/rest-request.js";
import { toHref } from "../routing/rest-path.js";
import type { RouteTable } from "../routing/route-table.js";
import { sendList } from "../lists/send-list.js";

/** Routes of lists, single objects, and lists of an object's alarms, messages and disks. */
export function addCollectionRoutes(
  routes: RouteTable,
  sources: ObjectSources,
): void {
  for (const collection of collections) {
    routes.get(`/${collection.name}`, (request, reply) =>
      sendCollection(collection, sources, { request, reply }),
    );
    routes.get(`/${collection.name}/{id}`, (request, reply) =>
      sendObject(collection, sources, { request, reply }),
    );
    for (const sub of collection.subCollections)
      routes.get(`/${collection.name}/{id}/${sub}`, (request, reply) =>
        senders[sub](collection, sources, { request, reply }),
      );
  }
}

type Send = (
  collection: Collection,
  sources: ObjectSources,
  exchange: RestExchange,
) => Promise<FastifyReply>;

const senders: Readonly<Record<SubCollection, Send>> = {
  alarms: sendMessagesOf("alarms"),
  messages: sendMessagesOf("messages"),
  vdis: sendDisks,
};

async function sendCollection(
  collection: Collection,
  sources: ObjectSources,
  { request, reply }: RestExchange,
): Promise<FastifyReply> {
  const extent = callerOf(request).rights().extent("read", collection.type);
  const query = readListQuery(queryOf(request));
  return sendList(
    reply,
    readCollection(sources, { collection, extent, query }),
    query,
  );
}

async function sendObject(
  collection: Collection,
  sources: ObjectSources,
  { request, reply }: RestExchange,
): Promise<FastifyReply> {
  const { json } = await findRequested(collection, sources, request);
  reply.type("application/json; charset=utf-8");
  if (collection.name !== "alarms") return reply.send(json);
  const alarm = toAlarm(toObject(json), sources.catalog);
  return reply.send(JSON.stringify(alarm));
}

/** Messages or alarms of an object. */
function sendMessagesOf(name: string): Send {
  const listed = collections.find((one) => one.name === name)!;
  return async (collection, sources, { request, reply }) => {
    const entry = await findRequested(collection, sources, request);
    const query = readListQuery(queryOf(request));
    const extent = callerOf(request).rights().extent("read", listed.type);
    const selected = { collection: listed, extent, query, about: entry.id };
    return sendList(reply, readCollection(sources, selected), query);
  };
}

/** The disks of a VM, by its VBDs. */
async function sendDisks(
  collection: Collection,
  sources: ObjectSources,
  { request, reply }: RestExchange,
): Promise<FastifyReply> {
  const entry = await findRequested(collection, sources, request);
  const query = readListQuery(queryOf(request));
  const rights = callerOf(request).rights();
  const pages = readEntries([...disksOf(entry, sources.catalog)], {
    query,
    extent: (type) => rights.extent("read", type),
  });
  return sendList(reply, pages, query);
}

function* disksOf({ json }: CatalogEntry, catalog: Pick<Catalog, "get">) {
  const vbds = toObject(json)["$VBDs"];
  const ids = new Set<unknown>();
  for (const vbd of Array.isArray(vbds) ? vbds : []) {
    const device = catalog.get(String(vbd));
    if (device !== undefined) ids.add(toObject(device.json)["VDI"]);
  }
  for (const id of ids) {
    const entry = typeof id === "string" ? catalog.get(id) : undefined;
    const folder = entry && collectionOf(entry.type);
    if (entry !== undefined && folder !== undefined)
      yield { entry, href: toHref(folder.name, entry.id) };
  }
}

function findRequested(
  collection: Collection,
  sources: ObjectSources,
  request: FastifyRequest,
): Promise<CatalogEntry> {
  const rights = callerOf(request).rights();
  return findObject(sources, collection, pathParameter(request, "id"), rights);
}

function toObject(json: Buffer): ViewObject {
  return JSON.parse(json.toString()) as ViewObject;
}
