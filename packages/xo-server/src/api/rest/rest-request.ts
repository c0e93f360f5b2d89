import type { FastifyRequest } from "fastify";
import { XoError } from "@xo-server/model";
import type { Caller } from "./caller.js";
import type { QueryValues } from "./query-values.js";

const callers = new WeakMap<FastifyRequest, Caller>();

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller);
}

/** Whoever asks: found out before a route is entered. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new XoError("UNAUTHORIZED");
  return caller;
}

export function queryOf(request: FastifyRequest): QueryValues {
  return request.query as QueryValues;
}

export function pathParameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? "";
}
