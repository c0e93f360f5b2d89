import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { Operation } from "../../operations/operation.js";
import type { Services } from "../definition/services.js";
import { defineOperation } from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";

/** A collection of the REST API, with the operation ids of its routes. */
interface Folder {
  readonly path: string;
  readonly list: string;
  readonly get: string;
}

/** Objects that this server does not support: lists of them are empty. */
interface Nothing {
  readonly type: string;
  /** Method of JSON-RPC that returns the list. */
  readonly getAll: string;
  readonly get: string;
  readonly what: string;
  readonly folders: readonly Folder[];
}

const folder = (path: string, list: string, get: string): Folder => ({
  path,
  list,
  get,
});

const NOTHING: readonly Nothing[] = [
  {
    type: "proxy",
    what: "proxies",
    getAll: "proxy.getAll",
    get: "proxy.get",
    folders: [folder("/proxies", "GetProxies", "GetProxy")],
  },
];

/** Methods that return an object by id instead of an array. */
const MAPS = ["log.get"] as const;

const ID = "00000000-0000-4000-8000-000000000004";

function listAndGet(nothing: Nothing): Operation<Services>[] {
  const { type, what, folders, getAll, get } = nothing;
  const route = (path: string, operationId: string): RestRoute => ({
    method: "get",
    path,
    operationId,
    exposure: "allow",
  });
  return [
    defineOperation({
      name: getAll,
      summary: `Return an empty list of ${what}: not supported.`,
      params: Type.Object({}),
      result: Type.Array(Type.Object({ id: Type.String() })),
      permission: "user",
      rest: folders.map(({ path, list }) => ({
        ...route(path, list),
        example: [{ id: ID }],
      })),
      handler: () => [],
    }),
    defineOperation({
      name: get,
      summary: `Return NO_SUCH_OBJECT: ${what} are not supported.`,
      params: Type.Object(
        { id: Type.String({ minLength: 1 }) },
        { additionalProperties: false },
      ),
      result: Type.Object({ id: Type.String() }),
      permission: "user",
      rest: folders.map((one) => ({
        ...route(`${one.path}/{id}`, one.get),
        example: { id: ID },
      })),
      handler({ id }): { id: string } {
        throw new XoError("NO_SUCH_OBJECT", { type, id });
      },
    }),
  ];
}

/**
 * Operations on backups and proxies that clients of Xen Orchestra call and that
 * return empty lists here.
 */
export const backupOperations = [
  ...NOTHING.flatMap(listAndGet),
  ...MAPS.map((name) =>
    defineOperation({
      name,
      summary: "Return an empty result: not implemented.",
      params: Type.Object({}, { additionalProperties: true }),
      result: Type.Record(Type.String(), Type.Unknown()),
      permission: "admin",
      handler: () => ({}),
    }),
  ),
  defineOperation({
    name: "backupNg.listMountedPartitions",
    summary: "Return an empty result: not implemented.",
    params: Type.Object({}, { additionalProperties: true }),
    result: Type.Array(Type.Unknown()),
    permission: "admin",
    handler: () => [],
  }),
];
