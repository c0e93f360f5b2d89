import { XoError } from "@xo-server/model";
import type { Server } from "@xo-server/store";
import { Type } from "typebox";
import { memberAddresses } from "../../pools/member-addresses.js";
import { namedPools } from "../../pools/named-pools.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { PublicServer, toPublicServers } from "../../pools/public-server.js";

const id = Type.String({ minLength: 1, description: "Id of a server." });
const host = Type.String({
  minLength: 1,
  pattern: "^[^\\s@]+$",
  description: "Host name or address, optionally with :port or http://.",
});
const username = Type.String({
  minLength: 1,
  description: "Name of a user of the pool, such as root.",
});
const password = Type.String({
  minLength: 1,
  description: "Password of that user. Stored encrypted, never returned.",
});
const label = Type.String({
  maxLength: 200,
  description: "Name of the server in lists.",
});
const httpProxy = Type.String({
  pattern: "^https?://",
  description: "URL of an HTTP proxy through which the pool is connected.",
});
const allowUnauthorized = Type.Boolean({
  description: "Accepts any certificate of the pool. Default: false.",
});
const fingerprint = Type.String({
  pattern: "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$",
  description:
    "SHA-256 fingerprint of the accepted certificate, as server.probe returns it. Certificates of other hosts of the pool are pinned at the first connection.",
});
const readOnly = Type.Boolean({
  description: "Rejects operations that would change the pool. Default: false.",
});
const closed = { additionalProperties: false } as const;

const example = {
  id: "00000000-0000-4000-8000-000000000001",
  host: "192.0.2.10",
  label: "Paris",
  enabled: true,
  status: "connected",
  origin: "api",
  poolId: "00000000-0000-4000-8000-000000000002",
  poolNameLabel: "Paris",
};

const change = {
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
} as const;

/** @throws XoError NO_SUCH_OBJECT */
function find(
  { services }: Pick<OperationContext, "services">,
  id: string,
): Server {
  const server = services.store.servers.get(id);
  if (server === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "server", id });
  return server;
}

async function enable(
  context: OperationContext,
  id: string,
  enabled: boolean,
): Promise<true> {
  find(context, id);
  await context.services.store.servers.update(id, { enabled });
  await context.services.storedPools.apply(id);
  return true;
}

async function list({
  services,
}: Pick<OperationContext, "services">): Promise<PublicServer[]> {
  const named = await namedPools(services);
  const members = await memberAddresses(services);
  return toPublicServers({
    servers: [...services.store.servers.list()],
    pools: services.pools.list(),
    isDemo: (id) => services.demoPools.has(id),
    problemOf: (id) => services.storedPools.problemOf(id),
  }).map((server) => {
    const pool = named.get(server.id);
    if (server.status !== "connected" || pool === undefined) return server;
    const poolMembersAddresses = [...(members.get(pool.poolId) ?? [])];
    return { ...server, ...pool, poolMembersAddresses };
  });
}

const serverGetAll = defineOperation({
  name: "server.getAll",
  summary: "List all servers (pool connections) with their status.",
  params: Type.Object({}),
  result: Type.Array(PublicServer),
  permission: "admin",
  rest: {
    method: "get",
    path: "/servers",
    operationId: "GetServers",
    exposure: "allow",
    example: [example],
  },
  handler: (_params, context) => list(context),
});

const serverGet = defineOperation({
  name: "server.get",
  summary: "Return a server (pool connection) with its status.",
  params: Type.Object({ id }, closed),
  result: PublicServer,
  permission: "admin",
  rest: {
    method: "get",
    path: "/servers/{id}",
    operationId: "GetServer",
    exposure: "allow",
    example,
  },
  handler: async ({ id }, context) => {
    const server = (await list(context)).find((one) => one.id === id);
    if (server === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "server", id });
    return server;
  },
});

const serverAdd = defineOperation({
  name: "server.add",
  summary: "Add a server (pool connection), connect it and return its id.",
  params: Type.Object(
    {
      host,
      username,
      password,
      label: Type.Optional(label),
      autoConnect: Type.Optional(
        Type.Boolean({
          description:
            "Whether the pool is connected, now and at each start of the server. Default: true.",
        }),
      ),
      allowUnauthorized: Type.Optional(allowUnauthorized),
      fingerprint: Type.Optional(fingerprint),
      readOnly: Type.Optional(readOnly),
      httpProxy: Type.Optional(httpProxy),
    },
    closed,
  ),
  ...change,
  result: Type.String({ description: "Id of the server." }),
  rest: {
    method: "post",
    path: "/servers",
    operationId: "AddServer",
    exposure: "confirm",
    status: 201,
  },
  handler: async (
    {
      autoConnect = true,
      allowUnauthorized = false,
      readOnly = false,
      fingerprint,
      ...server
    },
    { services },
  ) => {
    const { id } = await services.store.servers.add({
      ...server,
      enabled: autoConnect,
      options: {
        allowUnauthorized,
        readOnly,
        ...(fingerprint === undefined
          ? {}
          : { fingerprint: bare(fingerprint) }),
      },
    });
    await services.storedPools.apply(id);
    return id;
  },
});

const serverSet = defineOperation({
  name: "server.set",
  summary:
    "Change a server (pool connection) and reconnect it. A new `host` requires the password.",
  params: Type.Object(
    {
      id,
      label: Type.Optional(Type.Union([label, Type.Null()])),
      host: Type.Optional(host),
      username: Type.Optional(username),
      password: Type.Optional(password),
      allowUnauthorized: Type.Optional(allowUnauthorized),
      fingerprint: Type.Optional(Type.Union([fingerprint, Type.Null()])),
      readOnly: Type.Optional(readOnly),
      httpProxy: Type.Optional(Type.Union([httpProxy, Type.Null()])),
    },
    closed,
  ),
  ...change,
  handler: async ({ id, label, ...input }, context) => {
    const { allowUnauthorized, readOnly, fingerprint, ...patch } = input;
    const server = find(context, id);
    checkHostChange(server, patch);
    const options = changed(server.options, {
      allowUnauthorized,
      readOnly,
      fingerprint:
        typeof fingerprint === "string" ? bare(fingerprint) : fingerprint,
    });
    await context.services.store.servers.update(id, {
      ...patch,
      options,
      ...(label === undefined ? {} : { label: label ?? "" }),
    });
    await context.services.storedPools.apply(id);
    return true;
  },
});

const serverRemove = defineOperation({
  name: "server.remove",
  summary:
    "Disconnect and remove a server (pool connection). The objects of its pool are no longer listed.",
  params: Type.Object({ id }, closed),
  ...change,
  rest: {
    method: "delete",
    path: "/servers/{id}",
    operationId: "DeleteServer",
    exposure: "confirm",
    status: 204,
  },
  handler: async ({ id }, context) => {
    find(context, id);
    await context.services.store.servers.delete(id);
    await context.services.storedPools.apply(id);
    return true;
  },
});

const serverEnable = defineOperation({
  name: "server.enable",
  summary: "Connect a pool now, and at each start of the server.",
  params: Type.Object({ id }, closed),
  ...change,
  rest: {
    method: "post",
    path: "/servers/{id}/actions/connect",
    operationId: "ConnectServer",
    exposure: "confirm",
    isAction: true,
  },
  handler: ({ id }, context) => enable(context, id, true),
});

const serverDisable = defineOperation({
  name: "server.disable",
  summary:
    "Disconnect a pool, and do not connect it at the next start of the server. Its objects are no longer listed.",
  params: Type.Object({ id }, closed),
  ...change,
  rest: {
    method: "post",
    path: "/servers/{id}/actions/disconnect",
    operationId: "DisconnectServer",
    exposure: "confirm",
    isAction: true,
  },
  handler: ({ id }, context) => enable(context, id, false),
});

/**
 * A stored password must not be sent to another host than the one it was entered
 * for.
 * @throws XoError INVALID_PARAMETERS
 */
function checkHostChange(
  server: Server,
  { host = server.host, password }: { host?: string; password?: string },
): void {
  if (host === server.host || password !== undefined) return;
  throw new XoError("INVALID_PARAMETERS", {
    reason:
      "`password` is required to change `host`: the stored password is not sent to another host",
    errors: [],
  });
}

/** Undefined properties remain, null properties are removed. */
function changed(
  options: Server["options"],
  changes: Server["options"],
): Server["options"] {
  return Object.fromEntries(
    Object.entries({ ...options, ...defined(changes) }).filter(
      ([, value]) => value !== null,
    ),
  );
}

function defined(changes: Server["options"]): Server["options"] {
  return Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  );
}

function bare(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}

/** Connections to pools. Those of config.yaml are listed, but can only be changed there. */
export const serverOperations = [
  serverGetAll,
  serverGet,
  serverAdd,
  serverSet,
  serverRemove,
  serverEnable,
  serverDisable,
];
