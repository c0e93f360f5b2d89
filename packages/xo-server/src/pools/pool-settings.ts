import type { Config } from "../config/config.js";
import type { Server, ServerCredentials } from "@xo-server/store";
import type { DemoPool } from "./demo.js";

type PoolConfig = Config["pools"][number];

/** A pool to connect, from the config, the database or the demo. */
export interface PoolSettings extends PoolConfig {
  /** Stays the same across starts as long as label and hosts do. */
  readonly id: string;
  readonly label: string;
  /** Whether endpoints of the pool are persisted. */
  readonly isKept: boolean;
}

/** The enabled pools of the config, each with a unique id. */
export function toPoolSettings(
  pools: readonly PoolConfig[],
): readonly PoolSettings[] {
  const taken = new Set<string>();
  return pools
    .filter((pool) => pool.enabled)
    .map((pool) => {
      const label = pool.label ?? pool.hosts[0]!;
      return { ...pool, label, id: toId(label, taken), isKept: true };
    });
}

/** @param taken ids of existing pools */
export function toDemoSettings(
  pools: readonly DemoPool[],
  taken = new Set<string>(),
): readonly PoolSettings[] {
  return pools.map(({ label, url, user, password }) => ({
    id: toId(label, taken),
    label,
    hosts: [url],
    user,
    password,
    enabled: true,
    readOnly: false,
    tls: { trust: "verify" as const },
    isKept: false,
  }));
}

/** The settings of a pool that was added by the API; its id is that of the server in the store. */
export function toStoredSettings(
  { id, host, label, username, options }: Server,
  { password, httpProxy }: ServerCredentials,
): PoolSettings {
  return {
    id,
    label: label === "" ? host : label,
    hosts: [host],
    user: username,
    password,
    enabled: true,
    readOnly: options["readOnly"] === true,
    ...(httpProxy === undefined ? {} : { proxy: httpProxy }),
    tls: toTls(options),
    isKept: true,
  };
}

/**
 * A user has accepted the fingerprint of one member. Other members have
 * certificates of their own, which are pinned at their first use.
 */
function toTls({
  fingerprint,
  allowUnauthorized,
}: Server["options"]): PoolSettings["tls"] {
  if (typeof fingerprint === "string")
    return { trust: "first-use", fingerprint };
  return { trust: allowUnauthorized === true ? "insecure" : "verify" };
}

/** A name for addresses, files and JSON keys: letters, digits, dots and dashes. */
function toId(label: string, taken: Set<string>): string {
  const base =
    label
      .toLowerCase()
      .replace(/[^a-z0-9.]+/g, "-")
      .replace(/^[-.]+|[-.]+$/g, "") || "pool";
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  taken.add(id);
  return id;
}
