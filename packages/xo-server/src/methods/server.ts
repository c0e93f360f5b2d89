import { XoError } from "@xo-server/model";
import type { Server, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";
import type { StoredPools } from "../pools/stored-pools.js";
import type { NamedPool } from "../pools/named-pools.js";
import type { PoolStatus } from "../status/status.js";

export interface ServerMethodsOptions {
  readonly servers: Store["servers"];
  readonly stored: Pick<StoredPools, "apply">;
  readonly listPools: () => readonly PoolStatus[];
  /** Pools by the id of the server that they are known through. */
  readonly namedPools: () => Promise<ReadonlyMap<string, NamedPool>>;
}

const id = Type.String({ minLength: 1, description: "Of a server." });
const host = Type.String({
  minLength: 1,
  pattern: "^[^\\s@]+$",
  description: "Name or address, with :port or http:// where needed.",
});
const username = Type.String({ minLength: 1 });
const password = Type.String({ minLength: 1 });
const label = Type.String({ maxLength: 200 });
const httpProxy = Type.String({ pattern: "^https?://" });
const allowUnauthorized = Type.Boolean({
  description: "Whatever certificate it shows.",
});
const readOnly = Type.Boolean({ description: "It is looked at only." });
const closed = { additionalProperties: false } as const;

const PublicServer = Type.Object({
  id: Type.String(),
  host: Type.String(),
  label: Type.String(),
  username: Type.Optional(Type.String()),
  enabled: Type.Boolean(),
  status: Type.Enum(["connected", "connecting", "disconnected"]),
  error: Type.Optional(Type.Unknown()),
  readOnly: Type.Boolean(),
  allowUnauthorized: Type.Boolean(),
  poolId: Type.Optional(Type.String()),
  poolNameLabel: Type.Optional(Type.String()),
  master: Type.Optional(
    Type.String({ description: "Id of the pool's coordinator." }),
  ),
  version: Type.Optional(Type.String({ description: "Of its software." })),
});

const example = {
  id: "00000000-0000-4000-8000-000000000001",
  host: "192.0.2.10",
  label: "Paris",
  enabled: true,
  status: "connected",
  poolId: "00000000-0000-4000-8000-000000000002",
  poolNameLabel: "Paris",
};

/** Pools to connect to. Those of config.yaml are told of, but changed there. */
export function serverMethods({
  servers,
  stored,
  listPools,
  namedPools,
}: ServerMethodsOptions): Operation[] {
  const change = {
    result: Type.Boolean(),
    permission: "admin",
    changes: true,
  } as const;

  /** @throws XoError NO_SUCH_OBJECT */
  function find(id: string): Server {
    const server = servers.get(id);
    if (server === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "server", id });
    return server;
  }

  async function enable(id: string, enabled: boolean): Promise<true> {
    find(id);
    await servers.update(id, { enabled });
    await stored.apply(id);
    return true;
  }

  async function list(): Promise<Public[]> {
    const named = await namedPools();
    return toPublic([...servers.list()], listPools()).map((server) => ({
      ...server,
      ...(server.status === "connected" ? named.get(server.id) : {}),
    }));
  }

  return [
    defineOperation({
      name: "server.getAll",
      summary: "All pools that there are to connect to, and how they are.",
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
      handler: () => list(),
    }),
    defineOperation({
      name: "server.get",
      summary: "One pool that there is to connect to, and how it is.",
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
      handler: async ({ id }) => {
        const server = (await list()).find((one) => one.id === id);
        if (server === undefined)
          throw new XoError("NO_SUCH_OBJECT", { type: "server", id });
        return server;
      },
    }),
    defineOperation({
      name: "server.add",
      summary: "Another pool to connect to; its id. It is connected at once.",
      params: Type.Object(
        {
          host,
          username,
          password,
          label: Type.Optional(label),
          autoConnect: Type.Optional(
            Type.Boolean({ description: "False: only noted down." }),
          ),
          allowUnauthorized: Type.Optional(allowUnauthorized),
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
      handler: async ({
        autoConnect = true,
        allowUnauthorized = false,
        readOnly = false,
        ...server
      }) => {
        const { id } = await servers.add({
          ...server,
          enabled: autoConnect,
          options: { allowUnauthorized, readOnly },
        });
        await stored.apply(id);
        return id;
      },
    }),
    defineOperation({
      name: "server.set",
      summary: "Changes how a pool is connected to; it is connected anew.",
      params: Type.Object(
        {
          id,
          label: Type.Optional(Type.Union([label, Type.Null()])),
          host: Type.Optional(host),
          username: Type.Optional(username),
          password: Type.Optional(password),
          allowUnauthorized: Type.Optional(allowUnauthorized),
          readOnly: Type.Optional(readOnly),
          httpProxy: Type.Optional(Type.Union([httpProxy, Type.Null()])),
        },
        closed,
      ),
      ...change,
      handler: async ({ id, label, allowUnauthorized, readOnly, ...patch }) => {
        const { options } = find(id);
        await servers.update(id, {
          ...patch,
          ...(label === undefined ? {} : { label: label ?? "" }),
          options: {
            ...options,
            ...(allowUnauthorized === undefined ? {} : { allowUnauthorized }),
            ...(readOnly === undefined ? {} : { readOnly }),
          },
        });
        await stored.apply(id);
        return true;
      },
    }),
    defineOperation({
      name: "server.remove",
      summary: "Disconnects a pool and forgets it; its objects go.",
      params: Type.Object({ id }, closed),
      ...change,
      rest: {
        method: "delete",
        path: "/servers/{id}",
        operationId: "DeleteServer",
        exposure: "confirm",
        status: 204,
      },
      handler: async ({ id }) => {
        find(id);
        await servers.delete(id);
        await stored.apply(id);
        return true;
      },
    }),
    defineOperation({
      name: "server.enable",
      summary: "Connects a pool, now and at each start.",
      params: Type.Object({ id }, closed),
      ...change,
      rest: {
        method: "post",
        path: "/servers/{id}/actions/connect",
        operationId: "ConnectServer",
        exposure: "confirm",
        isAction: true,
      },
      handler: ({ id }) => enable(id, true),
    }),
    defineOperation({
      name: "server.disable",
      summary: "Disconnects a pool; its objects go.",
      params: Type.Object({ id }, closed),
      ...change,
      rest: {
        method: "post",
        path: "/servers/{id}/actions/disconnect",
        operationId: "DisconnectServer",
        exposure: "confirm",
        isAction: true,
      },
      handler: ({ id }) => enable(id, false),
    }),
  ];
}

type Public = Static<typeof PublicServer>;

function toPublic(
  servers: readonly Server[],
  pools: readonly PoolStatus[],
): Public[] {
  const byId = new Map(pools.map((pool) => [pool.id, pool]));
  const stored = servers.map(({ id, host, label, username, ...server }) => ({
    ...{ id, host, label, username, enabled: server.enabled },
    readOnly: server.options["readOnly"] === true,
    allowUnauthorized: server.options["allowUnauthorized"] === true,
    ...statusOf(byId.get(id)),
  }));
  const ids = new Set(servers.map(({ id }) => id));
  const configured = pools
    .filter(({ id }) => !ids.has(id))
    .map((pool) => ({
      ...{ id: pool.id, host: pool.address, label: pool.label, enabled: true },
      ...{ readOnly: false, allowUnauthorized: false },
      ...statusOf(pool),
    }));
  return [...stored, ...configured];
}

function statusOf(
  pool: PoolStatus | undefined,
): Pick<Public, "status" | "error"> {
  if (pool === undefined) return { status: "disconnected" };
  const { state, error } = pool;
  return {
    status:
      state === "watching" || state === "listing" || state === "re-listing"
        ? "connected"
        : "connecting",
    ...(error === null ? {} : { error }),
  };
}
