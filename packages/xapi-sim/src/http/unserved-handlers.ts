import { datamodel } from "@xo-server/model";
import type { HttpHandler } from "../http-handler.js";

/** Paths that are RPC, or files that this server does not have. */
const NOT_HANDLERS = new Set(["/", "/json", "/jsonrpc", "/RPC2"]);

/**
 * Paths of the data model that the simulator does not serve: they require credentials as the
 * real ones do, and then break off as those do that miss a parameter.
 */
export function unservedHandlers(
  served: readonly HttpHandler[],
): readonly HttpHandler[] {
  return datamodel.httpActions
    .map(({ name, method, uri }) => ({
      name,
      method: method.toUpperCase() as HttpHandler["method"],
      path: uri,
      taskless: true,
      handle: breakOff,
    }))
    .filter(
      ({ method, path }) =>
        !NOT_HANDLERS.has(path) &&
        !served.some((own) => own.path === path && own.method === method),
    );
}

const breakOff: HttpHandler["handle"] = (_request, response) =>
  response.crash("Not_found");
