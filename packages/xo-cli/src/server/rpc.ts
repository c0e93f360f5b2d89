import { once } from "node:events";
import type { Agent } from "node:http";
import { XoError } from "@xo-server/model";
import { JSONRPCClient, JSONRPCErrorException } from "json-rpc-2.0";
import { WebSocket } from "ws";
import { RequestError } from "../cli-error.js";
import { toConnectionError } from "./connection-error.js";
import { addressOf } from "./server-url.js";

/** All objects of a large installation are one message. */
const MAX_MESSAGE_BYTES = 1024 ** 3;

const CONNECT_TIMEOUT_MS = 15_000;

/** Close code of RFC 6455, 7.4.1: the server is stopping. */
const GOING_AWAY = 1001;

type Listener = (method: string, params: unknown) => void;

/** JSON-RPC 2.0 client over one WebSocket. Pending calls reject when the connection is lost. */
export class Rpc {
  readonly #socket: WebSocket;
  readonly #client: JSONRPCClient;
  readonly #lost: Promise<never>;
  #listener: Listener = () => undefined;

  /** @param url of the server, with a trailing slash. @throws XoError */
  static async connect(url: string, agent: Agent): Promise<Rpc> {
    const socket = new WebSocket(`${url.replace("http", "ws")}api/`, [], {
      agent,
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: CONNECT_TIMEOUT_MS,
    });
    const rpc = new Rpc(socket, addressOf(url));
    try {
      await once(socket, "open");
    } catch (error) {
      throw toConnectionError(addressOf(url), error as Error);
    }
    return rpc;
  }

  private constructor(socket: WebSocket, address: string) {
    this.#socket = socket;
    this.#client = new JSONRPCClient((payload) => {
      socket.send(JSON.stringify(payload));
    });
    this.#lost = new Promise((_, reject) => {
      socket.on("error", (error) => {
        reject(toConnectionError(address, error));
      });
      socket.on("close", (code, words) => {
        const reason = words.toString() || "closed by the server";
        reject(
          new XoError("CONNECTION_LOST", {
            address,
            reason,
            isStopping: code === GOING_AWAY,
          }),
        );
      });
    });
    // Callers that wait for the loss get the rejection; without one it is not unhandled.
    this.#lost.catch(() => undefined);
    socket.on("message", (data: Buffer) => {
      this.#onMessage(data.toString());
    });
  }

  /** Rejects when the connection is lost. */
  get lost(): Promise<never> {
    return this.#lost;
  }

  onNotification(listener: Listener): void {
    this.#listener = listener;
  }

  /** @throws RequestError, XoError CONNECTION_LOST */
  async call(method: string, params: object = {}): Promise<unknown> {
    try {
      return (await Promise.race([
        this.#client.request(method, params),
        this.#lost,
      ])) as unknown;
    } catch (error) {
      if (error instanceof JSONRPCErrorException) throw toRequestError(error);
      throw error;
    }
  }

  /** Stops reading; received messages are still delivered. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.close();
    // Does not wait for the close frame of the server.
    this.#socket.terminate();
  }

  #onMessage(text: string): void {
    let message: { method?: unknown; params?: unknown };
    try {
      message = JSON.parse(text) as typeof message;
    } catch {
      // Requests then fail because the connection is closed.
      this.#socket.close(1007, "not JSON");
      return;
    }
    if (typeof message.method === "string")
      this.#listener(message.method, message.params);
    else this.#client.receive(message as never);
  }
}

/** Error codes of servers without symbolic codes (Xen Orchestra). */
const CODES: Readonly<Record<number, string>> = {
  0: "UNSUPPORTED",
  1: "NO_SUCH_OBJECT",
  2: "FORBIDDEN",
  3: "CREDENTIALS_INVALID",
  10: "INVALID_PARAMETERS",
  [-32601]: "UNKNOWN_METHOD",
  [-32602]: "INVALID_PARAMETERS",
};

function toRequestError({
  message,
  code,
  data,
}: JSONRPCErrorException): RequestError {
  const own = (data as { code?: unknown } | null | undefined)?.code;
  const name = typeof own === "string" ? own : (CODES[code] ?? `RPC_${code}`);
  return new RequestError(message, name, data);
}
