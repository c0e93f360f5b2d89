import type { FastifyRequest } from "fastify";
import { LOGIN_PATH } from "./login-route.js";
import { REST_ROOT } from "../routing/rest-path.js";

const TICKET_PATH = "/session/ticket";

/** A browser still has the cookie of a session that has ended: who signs in again is not refused for it. */
const SIGN_IN_PATHS: ReadonlySet<string> = new Set([
  LOGIN_PATH,
  "/signin/providers",
]);

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
  /** Credentials of the request are ignored. */
  readonly isSignIn: boolean;
  readonly admitsSetUp: boolean;
  readonly isUse: boolean;
} {
  const path = url
    .split("?", 1)[0]!
    .slice(REST_ROOT.length)
    .replace(/\/+$/, "");
  return {
    isSignIn: SIGN_IN_PATHS.has(path),
    admitsSetUp: SET_UP_PATHS.has(path),
    isUse: path !== TICKET_PATH,
  };
}
