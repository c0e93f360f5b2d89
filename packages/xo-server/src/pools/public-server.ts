import type { Server } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { ErrorSummary } from "../status/error-summary.js";
import type { PoolStatus } from "../status/status.js";

/** A server (pool connection) as clients see it. */
export const PublicServer = Type.Object({
  id: Type.String(),
  host: Type.String(),
  label: Type.String(),
  username: Type.Optional(Type.String()),
  enabled: Type.Boolean(),
  status: Type.Enum(["connected", "connecting", "disconnected"]),
  error: Type.Optional(Type.Unknown()),
  via: Type.Optional(
    Type.String({
      description:
        "Name of the xo-server through which this one reaches the pool; absent: directly.",
    }),
  ),
  readOnly: Type.Boolean(),
  allowUnauthorized: Type.Boolean(),
  fingerprint: Type.Optional(
    Type.String({
      description: "SHA-256 fingerprint of the accepted certificate.",
    }),
  ),
  origin: Type.Enum(["api", "config", "demo"], {
    description:
      "Where the server is configured; only servers with `api` can be changed by the API.",
  }),
  poolId: Type.Optional(Type.String()),
  poolNameLabel: Type.Optional(Type.String()),
  poolNameDescription: Type.Optional(Type.String()),
  master: Type.Optional(
    Type.String({ description: "Id of the pool's coordinator." }),
  ),
  poolMembersAddresses: Type.Optional(
    Type.Array(Type.String(), { description: "Addresses of its hosts." }),
  ),
  version: Type.Optional(Type.String({ description: "Version of XAPI." })),
});
export type PublicServer = Static<typeof PublicServer>;

interface PublicServersOptions {
  readonly servers: readonly Server[];
  /** Status of all pools, including those of the config and of the demo. */
  readonly pools: readonly PoolStatus[];
  readonly isDemo: (id: string) => boolean;
  /** Why a server is not being connected. */
  readonly problemOf: (id: string) => ErrorSummary | undefined;
}

/** Returns servers that were added by the API, then the others. */
export function toPublicServers({
  servers,
  pools,
  isDemo,
  problemOf,
}: PublicServersOptions): PublicServer[] {
  const byId = new Map(pools.map((pool) => [pool.id, pool]));
  const added = servers.map((server) => {
    const error = problemOf(server.id);
    return {
      ...toPublic(server),
      ...statusOf(byId.get(server.id)),
      ...(error === undefined ? {} : { error }),
    };
  });
  const ids = new Set(servers.map(({ id }) => id));
  const others = pools
    .filter(({ id }) => !ids.has(id))
    .map((pool): PublicServer => {
      const origin = isDemo(pool.id) ? "demo" : "config";
      return {
        id: pool.id,
        host: pool.address,
        label: pool.label,
        enabled: true,
        readOnly: false,
        allowUnauthorized: false,
        origin,
        ...statusOf(pool),
      };
    });
  return [...added, ...others];
}

function toPublic(
  server: Server,
): Omit<PublicServer, "status" | "error" | "via"> {
  const { id, host, label, username, enabled, options } = server;
  const { fingerprint } = options;
  return {
    id,
    host,
    label,
    username,
    enabled,
    readOnly: options["readOnly"] === true,
    allowUnauthorized: options["allowUnauthorized"] === true,
    ...(typeof fingerprint === "string" ? { fingerprint } : {}),
    origin: "api",
  };
}

function statusOf(
  pool: PoolStatus | undefined,
): Pick<PublicServer, "status" | "error" | "via"> {
  if (pool === undefined) return { status: "disconnected" };
  const { state, error, via } = pool;
  return {
    status:
      state === "watching" || state === "listing" || state === "re-listing"
        ? "connected"
        : "connecting",
    ...(error === null ? {} : { error }),
    ...(via === undefined ? {} : { via }),
  };
}
