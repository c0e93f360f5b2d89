import type { FastifyRequest } from "fastify";
import { LOGIN_PATH } from "./login-route.js";
import { REST_ROOT } from "../routing/rest-path.js";

const TICKET_PATH = "/session/ticket";

/**
 * A browser may still send the cookie of a session that has ended. Signing in again
 * must not fail because of it.
 */
const SIGN_IN_PATHS: ReadonlySet<string> = new Set([
  LOGIN_PATH,
  "/signin/providers",
]);

/**
 * Paths that a page needs to set up a second factor, and paths whose responses
 * reveal nothing about users.
 */
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
 * How the request uses its session. A page requests a ticket by itself whenever it
 * has lost its connection, so that such a request must not keep the session alive.
 */
export function admittedUses({ url }: FastifyRequest): {
  /** Credentials of the request are ignored. */
  readonly isSignIn: boolean;
  readonly admitsSetUp: boolean;
  readonly countsAsUse: boolean;
} {
  const path = url
    .split("?", 1)[0]!
    .slice(REST_ROOT.length)
    .replace(/\/+$/, "");
  return {
    isSignIn: SIGN_IN_PATHS.has(path),
    admitsSetUp: SET_UP_PATHS.has(path),
    countsAsUse: path !== TICKET_PATH,
  };
}
