import { once } from "node:events";
import {
  createServer as createHttp,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { WebSocketServer, type WebSocket } from "ws";

type Params = Record<string, unknown>;

/** An error as JSON-RPC reports it. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type Method = (params: Params, socket: WebSocket) => unknown;
export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
) => void;

export interface Tls {
  readonly key: string;
  readonly cert: string;
}

/** A server that answers according to the contract; each test lists its operations. */
export class FakeServer {
  readonly methods: Record<string, Method> = {
    "session.signIn": (params) => this.#signIn(params),
    "session.getUser": () => USER,
    "system.getServerVersion": () => "5.207.2",
    "token.create": (params) => {
      this.created.push(params);
      return TOKEN;
    },
    "token.deleteOwn": ({ tokens }) => {
      this.deleted.push(...(tokens as string[]));
      return true;
    },
  };
  /** By `GET /rest/v0/vms`, without the query. */
  readonly routes: Record<string, Route> = {};
  /** Those that respond before the body is read. */
  readonly earlyRoutes: Record<string, Route> = {};
  readonly calls: { method: string; params: Params }[] = [];
  readonly requests: { line: string; cookie: string; body: string }[] = [];
  readonly created: Params[] = [];
  readonly deleted: string[] = [];
  readonly sockets = new Set<WebSocket>();
  readonly #server: Server;
  readonly #isTls: boolean;

  static async start(t: Test, tls?: Tls): Promise<FakeServer> {
    const server = new FakeServer(tls);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    t.teardown(() => server.stop());
    return server;
  }

  private constructor(tls: Tls | undefined) {
    this.#isTls = tls !== undefined;
    this.#server = tls === undefined ? createHttp() : createHttps(tls);
    this.#server.on("request", (request, response) => {
      void this.#onRequest(request, response);
    });
    new WebSocketServer({ server: this.#server, path: "/api/" }).on(
      "connection",
      (socket) => {
        this.sockets.add(socket);
        socket.on("close", () => this.sockets.delete(socket));
        socket.on("message", (data: Buffer) => {
          void this.#onMessage(socket, data.toString());
        });
      },
    );
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#isTls ? "https" : "http"}://127.0.0.1:${port}/`;
  }

  /** To all clients. */
  notify(method: string, params: unknown): void {
    for (const socket of this.sockets)
      socket.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** As a server that is stopping. */
  closeAll(): void {
    for (const socket of this.sockets) socket.close(1001, "stopping");
  }

  dropAll(): void {
    for (const socket of this.sockets) socket.terminate();
  }

  async stop(): Promise<void> {
    this.dropAll();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #signIn({ email, password, token }: Params): unknown {
    if (token === TOKEN) return USER;
    if (email === USER.email && password === PASSWORD) return USER;
    throw new RpcError(3, "invalid credentials");
  }

  async #onMessage(socket: WebSocket, text: string): Promise<void> {
    const {
      id,
      method,
      params = {},
    } = JSON.parse(text) as {
      id: number;
      method: string;
      params?: Params;
    };
    this.calls.push({ method, params });
    let answer: object;
    try {
      const known = this.methods[method];
      if (known === undefined)
        throw new RpcError(-32601, `method not found: ${method}`, method);
      answer = { result: (await known(params, socket)) ?? true };
    } catch (error) {
      const { code, message, data } = error as RpcError;
      answer = { error: { code, message, data } };
    }
    if (socket.readyState === socket.OPEN)
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  }

  async #onRequest(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const early = this.earlyRoutes[`${request.method} ${request.url}`];
    if (early !== undefined) {
      early(request, response, "");
      return;
    }
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const line = `${request.method} ${request.url}`;
    const { cookie = "" } = request.headers;
    this.requests.push({ line, cookie, body });
    const route = this.routes[line.replace(/\?.*/, "")];
    if (route !== undefined) route(request, response, body);
    else response.writeHead(404, { "content-type": "text/html" }).end("<p>");
  }
}

export const TOKEN = "s3cret-token-of-43-characters-url-safe-base64";
export const PASSWORD = "correct horse";
export const USER = {
  id: "u1",
  email: "ada@example.org",
  permission: "admin",
  groups: [],
};

/** An answer of the REST API. */
export function json(status: number, body: unknown, headers = {}): Route {
  return (_request, response) => {
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(body));
  };
}
