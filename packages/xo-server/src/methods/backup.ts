import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { Operation } from "../operations/operation.js";
import type { Services } from "./services.js";
import { defineOperation } from "./define-operation.js";
import type { RestRoute } from "../operations/rest-route.js";

/** A folder of the REST API, and the names by which tools know its routes. */
interface Folder {
  readonly path: string;
  readonly list: string;
  readonly get: string;
}

/** Things that there are none of yet. */
interface Nothing {
  readonly type: string;
  /** JSON-RPC; absent: there is none for one. */
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

/** Those whose answer is by id. */
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

/** Backups and proxies: clients request them, and get empty lists. */
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
