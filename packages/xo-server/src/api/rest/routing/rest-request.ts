import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { XoError } from "@xo-server/model";
import type { Caller } from "../../authentication/caller.js";
import type { QueryValues } from "./query-values.js";
import type { RouteHandler } from "./route-table.js";

/** A request to the REST API, with its response. */
export interface RestExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the authentication hook of the REST API; undefined for other requests. */
    caller: Caller | undefined;
    /** Set by the routing hook of the REST API; undefined for other requests. */
    routeHandler: RouteHandler | undefined;
  }
}

/**
 * Declares the members that the hooks of the REST API set. Fastify requires it
 * before routes are added.
 */
export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest("caller", undefined);
  app.decorateRequest("routeHandler", undefined);
}

/** @throws XoError UNAUTHORIZED: the route has no authentication hook */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw new XoError("UNAUTHORIZED");
  return caller;
}

/** Parameters of the query string, as the parser of the server returns them. */
export function queryOf(request: FastifyRequest): QueryValues {
  return request.query as QueryValues;
}

/** A parameter of the route's path, decoded; empty if the route does not have it. */
export function pathParameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? "";
}
