import { XoError } from "@xo-server/model";
import type { Server, Store } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";
import type { StoredPools } from "../pools/stored-pools.js";
import { PublicServer, toPublicServers } from "../pools/public-server.js";
import type { NamedPool } from "../pools/named-pools.js";
import type { PoolStatus } from "../status/status.js";

export interface ServerMethodsOptions {
  readonly servers: Store["servers"];
  readonly stored: Pick<StoredPools, "apply" | "problemOf">;
  /** Is it a simulated pool? */
  readonly isDemo: (id: string) => boolean;
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
const fingerprint = Type.String({
  pattern: "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$",
  description:
    "SHA-256 of a certificate that is accepted, as server.probe shows it; those of other members are pinned as they are first seen.",
});
const readOnly = Type.Boolean({ description: "It is looked at only." });
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

/** Pools to connect to. Those of config.yaml are told of, but changed there. */
export function serverMethods({
  servers,
  stored,
  listPools,
  namedPools,
  isDemo,
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

  async function list(): Promise<PublicServer[]> {
    const named = await namedPools();
    return toPublicServers({
      servers: [...servers.list()],
      pools: listPools(),
      isDemo,
      problemOf: (id) => stored.problemOf(id),
    }).map((server) => ({
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
      handler: async ({
        autoConnect = true,
        allowUnauthorized = false,
        readOnly = false,
        fingerprint,
        ...server
      }) => {
        const { id } = await servers.add({
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
          fingerprint: Type.Optional(Type.Union([fingerprint, Type.Null()])),
          readOnly: Type.Optional(readOnly),
          httpProxy: Type.Optional(Type.Union([httpProxy, Type.Null()])),
        },
        closed,
      ),
      ...change,
      handler: async ({ id, label, ...given }) => {
        const { allowUnauthorized, readOnly, fingerprint, ...patch } = given;
        const options = changed(find(id).options, {
          allowUnauthorized,
          readOnly,
          fingerprint:
            typeof fingerprint === "string" ? bare(fingerprint) : fingerprint,
        });
        await servers.update(id, {
          ...patch,
          options,
          ...(label === undefined ? {} : { label: label ?? "" }),
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

/** What is undefined stays, what is null goes. */
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
