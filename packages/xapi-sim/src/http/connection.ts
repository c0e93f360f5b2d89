import type { Socket } from "node:net";
import type { SimulatorClock } from "../clock.js";
import type { Faults } from "../faults/transport-faults.js";
import type { Dispatcher } from "../calls/dispatcher.js";
import { MalformedRequest } from "../rpc/wire-value.js";
import {
  crashed,
  forbidden,
  headerTooLarge,
  notImplemented,
  requestTimeout,
} from "./error-pages.js";
import { FaultyWriter } from "./faulty-writer.js";
import { NO_CACHE, rpcReply, type Header, type Reply } from "./reply.js";
import { parseHead, type RequestHead } from "./request-head.js";
import { KNOWN_METHODS, type RouteTable } from "./route-table.js";
import type { RpcEndpoint } from "./rpc-endpoints.js";
import { SocketReader } from "./socket-reader.js";
import type { HandlerServer } from "./handler-server.js";
import { serveControl, type Control } from "./control.js";

/** XAPI's limits [xapi_globs.ml:1071-1077, constants.ml:421]; the first in bytes with the blank line. */
const MAX_HEAD_BYTES = 1006;
const MAX_RPC_BODY_BYTES = 307_200;
const FIRST_REQUEST_TIMES = { idleMs: 10_000, totalMs: 60_000 };

/** What all connections of a listener share. */
interface ConnectionContext {
  readonly clock: SimulatorClock;
  readonly faults: Faults;
  readonly routes: RouteTable;
  readonly dispatcher: Dispatcher;
  readonly handlers: HandlerServer;
  readonly control: Control;
  readonly hostRef: string;
  /** Takes connections and never answers. */
  isSilent(): boolean;
  /** SHA-256 of the coordinator's certificate, where there is TLS. */
  readonly thumbprint: string | undefined;
}

/** One connection: reads requests one after another and answers each before it reads the next. */
export class Connection {
  readonly #socket: Socket;
  readonly #context: ConnectionContext;
  readonly #reader: SocketReader;
  readonly #writer: FaultyWriter;
  readonly #closed = new AbortController();

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket;
    this.#context = context;
    this.#reader = new SocketReader(socket, context.clock);
    this.#writer = new FaultyWriter(socket, context.clock, context.faults);
    socket.setNoDelay(true);
    // A disconnected client is not reported.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#closed.abort());
  }

  async run(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      const goesOn = await this.#next(isFirst);
      if (goesOn === "taken") return;
      if (!goesOn) break;
    }
    this.#socket.end();
  }

  async #next(isFirst: boolean): Promise<boolean | "taken"> {
    const times = isFirst ? FIRST_REQUEST_TIMES : undefined;
    const block = await this.#reader.head(MAX_HEAD_BYTES, times);
    if (block === undefined) return false;
    if (block === "timeout") return this.#writer.write(requestTimeout());
    if (block === "too-large") return this.#writer.write(headerTooLarge());
    const head = parseHead(block);
    if (this.#context.isSilent()) return this.#holdSilent();
    if (head === undefined) {
      // XAPI never gets out of a bad request line but by its timeout.
      await this.#reader.silence(FIRST_REQUEST_TIMES.idleMs);
      return this.#writer.write(requestTimeout());
    }
    return this.#serve(head);
  }

  async #holdSilent(): Promise<false> {
    while ((await this.#reader.some(1 << 16)) !== undefined) continue;
    return false;
  }

  async #serve(head: RequestHead): Promise<boolean | "taken"> {
    const { routes } = this.#context;
    if (!KNOWN_METHODS.has(head.method))
      return this.#writer.write(notImplemented(head.version, head.method));
    if (head.method === "OPTIONS")
      return this.#writer.write(optionsReply(head));
    const route = routes.find(head.method, head.path);
    if (route === undefined) return this.#writer.write(forbidden(head.version));
    switch (route.kind) {
      case "rpc":
        return this.#call(head, route.endpoint);
      case "control":
        return serveControl(this.#context.control, head, {
          reader: this.#reader,
          writer: this.#writer,
          socket: this.#socket,
        });
      case "handler":
        return this.#context.handlers.serve(route.handler, head, {
          reader: this.#reader,
          writer: this.#writer,
          socket: this.#socket,
          hostRef: this.#context.hostRef,
          closed: this.#closed.signal,
          isSilent: () => this.#context.isSilent(),
        });
    }
  }

  async #call(head: RequestHead, endpoint: RpcEndpoint): Promise<boolean> {
    const { contentLength, version } = head;
    if (contentLength === undefined)
      return this.#crash(
        version,
        'Failure("We require a content-length: HTTP header")',
      );
    if (contentLength > MAX_RPC_BODY_BYTES)
      return this.#crash(version, "Http_svr.Client_requested_size_over_limit");
    const body = await this.#reader.bytes(contentLength);
    if (body === undefined) return false;
    try {
      const answer = await endpoint(this.#context.dispatcher, body, {
        hostRef: this.#context.hostRef,
        closed: this.#closed.signal,
        taskMarks: taskMarksOf(head),
      });
      const reply = rpcReply(
        head,
        answer.contentType,
        answer.body,
        answer.cors,
      );
      const adapted = answer.isSlave
        ? this.#withThumbprint(head, reply)
        : reply;
      return await this.#writer.write(adapted, answer.method);
    } catch (error) {
      if (error instanceof MalformedRequest)
        return this.#crash(version, error.exception);
      throw error;
    }
  }

  #crash(version: "1.0" | "1.1", exception: string): Promise<boolean> {
    return this.#writer.write(crashed(version, exception));
  }

  /**
   * Adds the thumbprint of the coordinator's certificate, on request of a client of a member
   * [api_server.ml:71-104].
   */
  #withThumbprint(head: RequestHead, reply: Reply): Reply {
    const requested = head.headers.get(
      "x-xenapi-request-host-certificate-thumbprint",
    );
    const { thumbprint } = this.#context;
    if (requested !== "sha-256:master" || thumbprint === undefined)
      return reply;
    const header: Header = [
      "x-xenapi-response-host-certificate-thumbprint",
      thumbprint,
    ];
    return { ...reply, headers: [...reply.headers, header] };
  }
}

function optionsReply(head: RequestHead): Reply {
  const requested = head.headers.get("access-control-request-headers");
  const allowed =
    requested === undefined
      ? "X-Requested-With"
      : `${requested}, X-Requested-With`;
  return {
    version: head.version,
    status: 200,
    headers: [
      ["content-length", "0"],
      ["connection", head.keepAlive ? "keep-alive" : "close"],
      NO_CACHE,
      ["Access-Control-Allow-Origin", "*"],
      ["Access-Control-Allow-Headers", allowed],
      ["Access-Control-Allow-Methods", "PUT"],
    ],
    body: [],
    keepAlive: head.keepAlive,
  };
}

const MARK = "x-http-other-config-";

/** Headers that XAPI copies into other_config of the call's task [context.ml, get_http_other_config]. */
function taskMarksOf({ headers }: RequestHead): Record<string, string> {
  return Object.fromEntries(
    [...headers]
      .filter(([name]) => name.startsWith(MARK))
      .map(([name, value]) => [name.slice(MARK.length), value]),
  );
}
