import type { HttpHandler } from "../http-handler.js";
import type { RpcEndpoint } from "./rpc-endpoints.js";

type Route =
  | { readonly kind: "rpc"; readonly endpoint: RpcEndpoint }
  | { readonly kind: "handler"; readonly handler: HttpHandler }
  | { readonly kind: "control" };

/** The methods that XAPI knows at all; others are answered 501. */
export const KNOWN_METHODS: ReadonlySet<string> = new Set([
  "GET",
  "PUT",
  "POST",
  "CONNECT",
  "OPTIONS",
]);

/** Handlers by method, then longest path that the request's path starts with [http_svr.ml:333]. */
export class RouteTable {
  readonly #routes: {
    readonly method: string;
    readonly path: string;
    readonly route: Route;
  }[] = [];

  add(method: string, path: string, route: Route): void {
    this.#routes.push({ method, path, route });
    this.#routes.sort((a, b) => b.path.length - a.path.length);
  }

  find(method: string, path: string): Route | undefined {
    return this.#routes.find(
      (entry) => entry.method === method && path.startsWith(entry.path),
    )?.route;
  }
}
