import type { FastifyReply, FastifyRequest } from "fastify";

export type RouteHandler = (
  request: FastifyRequest,
  reply: FastifyReply,
) => unknown;

interface Route {
  readonly pattern: RegExp;
  readonly parameterCount: number;
  /** Handlers by method: `GET`, `PUT`. Undefined: the route belongs to Fastify's router. */
  readonly handlers: Map<string, RouteHandler | undefined>;
}

interface RouteMatch {
  readonly handler: RouteHandler;
  /** Values of the names in braces, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** Maximum length of a path parameter (id, reference or tag), in characters. */
const MAX_PARAMETER_LENGTH = 1024;

/**
 * Routes of the REST API by path and method. Fastify's own router needs 0.2 ms per
 * route and method; with 400 routes that was most of the server's start. It also
 * cannot list the other methods of a path, which a 405 response must contain.
 */
export class RouteTable {
  readonly #byPath = new Map<string, Route>();
  /** Routes by the first segment of their path. */
  readonly #byFolder = new Map<string, Route[]>();

  /** Adds a route for GET and HEAD. The response to HEAD is that to GET without its body. */
  get(path: string, handler: RouteHandler): void {
    this.add("GET", path, handler);
    this.add("HEAD", path, handler);
  }

  post(path: string, handler: RouteHandler): void {
    this.add("POST", path, handler);
  }

  put(path: string, handler: RouteHandler): void {
    this.add("PUT", path, handler);
  }

  delete(path: string, handler: RouteHandler): void {
    this.add("DELETE", path, handler);
  }

  /**
   * @param path below the root of the API, with parameters in braces: `/vms/{id}`
   * @param handler undefined: Fastify handles the route, only its method is
   * registered
   */
  add(method: string, path: string, handler: RouteHandler | undefined): void {
    const known = this.#byPath.get(path) ?? this.#addPath(path);
    known.handlers.set(method, handler);
  }

  /** @param path of the URL below the root of the API, as it was sent */
  find(method: string, path: string): RouteMatch | undefined {
    for (const { handlers, groups } of this.#matching(path)) {
      const handler = handlers.get(method);
      if (handler !== undefined) return { handler, params: decode(groups) };
    }
    return undefined;
  }

  /** Methods of all routes that a path has, sorted. */
  methodsOf(path: string): readonly string[] {
    const methods = [...this.#matching(path)].flatMap(({ handlers }) => [
      ...handlers.keys(),
    ]);
    return [...new Set(methods)].toSorted();
  }

  *#matching(path: string) {
    const trimmed = trim(path);
    for (const { pattern, handlers } of this.#routesIn(folderOf(trimmed))) {
      const match = pattern.exec(trimmed);
      if (match !== null) yield { handlers, groups: match.groups ?? {} };
    }
  }

  #routesIn(folder: string): readonly Route[] {
    return this.#byFolder.get(folder) ?? [];
  }

  #addPath(path: string): Route {
    const route: Route = {
      pattern: toPattern(path),
      parameterCount: path.split("{").length - 1,
      handlers: new Map(),
    };
    const folder = folderOf(path);
    // `/users/me` takes precedence over `/users/{id}`.
    const routes = [...this.#routesIn(folder), route].sort(
      (a, b) => a.parameterCount - b.parameterCount,
    );
    this.#byFolder.set(folder, routes);
    this.#byPath.set(path, route);
    return route;
  }
}

/** Trailing slashes are ignored, as everywhere else in the server. */
function trim(path: string): string {
  return path.replace(/\/+$/, "");
}

function folderOf(path: string): string {
  return path.split("/", 2)[1] ?? "";
}

function toPattern(path: string): RegExp {
  const source = trim(path)
    .replaceAll(".", "\\.")
    .replace(/\{(\w+)\}/g, `(?<$1>[^/]{1,${MAX_PARAMETER_LENGTH}}?)`);
  return new RegExp(`^${source}$`);
}

function decode(
  groups: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, value]) => [
      name,
      // Fastify has already rejected URLs that cannot be decoded.
      decodeURIComponent(value),
    ]),
  );
}
