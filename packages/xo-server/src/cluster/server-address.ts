import { hostname } from "node:os";
import { isIPv6 } from "node:net";
import type { Config } from "../config/config.js";

interface ServerAddressOptions {
  readonly config: Pick<Config, "server" | "http">;
  /** Port that the web server listens on. */
  readonly port: number;
  /** Address of this server as the database sees it; undefined: not known. */
  readonly seenFrom: string | undefined;
}

/**
 * Address at which other servers reach this one, such as `10.0.0.1:9000`: as
 * configured, else the one that it listens on or that connects to the database.
 */
export function toServerAddress({
  config,
  port,
  seenFrom,
}: ServerAddressOptions): string {
  const { address } = config.server;
  if (address !== "")
    return /:\d+$/.test(address) ? address : `${address}:${port}`;
  const { host } = config.http;
  const isAny = host === "0.0.0.0" || host === "::";
  // A database on this machine sees an address that other machines cannot use.
  const isLocal = seenFrom === undefined || /^(127\.|::1$)/.test(seenFrom);
  const name = isAny ? (isLocal ? hostname() : seenFrom) : host;
  return `${isIPv6(name) ? `[${name}]` : name}:${port}`;
}
