import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { extname, join, normalize } from "node:path";
import { WebSocketServer, type WebSocket } from "ws";
import { ScriptedUsers } from "./scripted-users.js";
import type { ScriptedStatus } from "./scripted-status.js";

/** The strictest policy with which the page works; a less strict one would hide an inline style. */
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export interface ScriptedServer {
  readonly url: string;
  /** Number of status requests of pages. */
  readonly subscriptions: number;
  /** Sends a whole new status. */
  show(status: ScriptedStatus): void;
  /**
   * Sends a merge patch to the current status. With another `base`, the page has
   * missed an update.
   */
  patch(patch: object, base?: number): void;
  /** Sends a notification. */
  notify(method: string, params?: object): void;
  /** Closes all connections, and accepts no new ones until `reconnect`. */
  disconnect(): void;
  reconnect(): void;
  stop(): Promise<void>;
}

/** Results of calls by method, in addition to those of the status. */
export type ScriptedAnswers = Readonly<
  Record<string, (params: Readonly<Record<string, unknown>>) => unknown>
>;

/** Serves a built page, and a status that the test scripts, on a free port of this machine. */
export async function startScriptedServer(
  root: string,
  first: ScriptedStatus,
  answers: ScriptedAnswers = {},
): Promise<ScriptedServer> {
  let status = first;
  let revision = 1;
  let subscriptions = 0;
  let isDisconnected = false;
  const sockets = new Set<WebSocket>();
  const users = new ScriptedUsers();
  const http = createServer((request, response) => {
    if (request.url?.startsWith("/rest/") === true)
      void users.answer(request, response);
    else void serveFile(root, request, response);
  });
  const webSockets = new WebSocketServer({ noServer: true });

  http.on("upgrade", (request, socket: Socket, head) => {
    if (isDisconnected) socket.destroy();
    else
      webSockets.handleUpgrade(request, socket, head, (page) => {
        sockets.add(page);
        page.on("close", () => sockets.delete(page));
        respond(page, answers, () => {
          subscriptions += 1;
          return { revision, status };
        });
      });
  });

  function broadcast(params: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", method: "status", params });
    for (const page of sockets) page.send(text);
  }

  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    get subscriptions() {
      return subscriptions;
    },
    show(next) {
      status = next;
      revision += 1;
      broadcast({ revision, status });
    },
    patch(patch, base = revision) {
      revision += 1;
      broadcast({ revision, base, patch });
    },
    notify(method, params = {}) {
      const text = JSON.stringify({ jsonrpc: "2.0", method, params });
      for (const page of sockets) page.send(text);
    },
    disconnect() {
      isDisconnected = true;
      for (const page of sockets) page.terminate();
    },
    reconnect() {
      isDisconnected = false;
    },
    async stop() {
      for (const page of sockets) page.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Responds to the calls of a page. @param subscribe the result of `status.subscribe` */
function respond(
  page: WebSocket,
  answers: ScriptedAnswers,
  subscribe: () => unknown,
): void {
  const results: ScriptedAnswers = {
    "status.subscribe": subscribe,
    "session.signOut": () => true,
    ...answers,
  };
  page.on("message", (data: Buffer) => {
    const { id, method, params } = JSON.parse(data.toString("utf8")) as {
      id: number;
      method: string;
      params: Record<string, unknown>;
    };
    const resultOf = results[method];
    const result = resultOf ? resultOf(params) : { email: "ada" };
    page.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
}

async function serveFile(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const file = join(
    root,
    pathname === "/" ? "index.html" : normalize(pathname),
  );
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    "content-type": types[extname(file)] ?? "application/octet-stream",
    "content-security-policy": contentPolicy,
  });
  createReadStream(file).pipe(response);
}
