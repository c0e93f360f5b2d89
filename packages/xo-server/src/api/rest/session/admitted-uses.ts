import type { FastifyRequest } from "fastify";
import { LOGIN_PATH } from "./login-route.js";
import { REST_ROOT } from "../routing/rest-path.js";

const TICKET_PATH = "/session/ticket";

/** What a page needs for the set-up of a second factor, and what says nothing of any user. */
const SET_UP_PATHS: ReadonlySet<string> = new Set([
  LOGIN_PATH,
  "/auth/logout",
  TICKET_PATH,
  "/signin/providers",
  "/ping",
  "/mcp/status",
  "/gui-routes",
]);

/**
 * How the request uses its session: a page fetches tickets by itself, whenever it has
 * lost its connection, so that these do not keep a session alive.
 */
export function admittedUses({ url }: FastifyRequest): {
  readonly admitsSetUp: boolean;
  readonly isUse: boolean;
} {
  const path = url
    .split("?", 1)[0]!
    .slice(REST_ROOT.length)
    .replace(/\/+$/, "");
  return {
    admitsSetUp: SET_UP_PATHS.has(path),
    isUse: path !== TICKET_PATH,
  };
}
