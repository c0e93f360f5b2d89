import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Test } from "tap";
import { WebSocket } from "ws";

/** How a console was refused before the WebSocket was opened. */
export interface Refusal {
  readonly status: number;
  readonly body: { readonly code?: string; readonly data?: unknown };
}

export interface ConsoleHeaders {
  readonly cookie?: string;
  readonly origin?: string;
  readonly authorization?: string;
}

/** A console as a browser has it: bytes over a WebSocket. */
export class ConsoleClient {
  readonly socket: WebSocket;
  /** Code and reason of its end. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #rest: Buffer = Buffer.alloc(0);
  readonly #waiting: (() => void)[] = [];

  /** @returns the console, or how it was refused */
  static async open(
    t: Test,
    url: string,
    headers: ConsoleHeaders = {},
    protocols: string[] = [],
  ): Promise<ConsoleClient | Refusal> {
    const socket = new WebSocket(url.replace(/^http/, "ws"), protocols, {
      headers: { ...headers },
    });
    t.teardown(() => {
      socket.terminate();
    });
    const client = new ConsoleClient(socket);
    const refused = new Promise<IncomingMessage>((resolve) => {
      socket.once("unexpected-response", (_request, response) => {
        resolve(response);
      });
    });
    const response = await Promise.race([once(socket, "open"), refused]);
    if (Array.isArray(response)) return client;
    const body = JSON.parse(await text(response)) as Refusal["body"];
    return { status: response.statusCode!, body };
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("message", (data: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, data]);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => {
        resolve({ code, reason: reason.toString() });
        for (const wake of this.#waiting.splice(0)) wake();
      });
    });
  }

  write(...bytes: (string | Uint8Array)[]): void {
    for (const part of bytes) this.socket.send(Buffer.from(part as string));
  }

  /** Reads exactly this number of bytes. @throws Error if the console ends before */
  async read(count: number): Promise<Buffer> {
    while (this.#rest.length < count) await this.#more();
    const bytes = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return bytes;
  }

  /** Reads until a text has arrived. */
  async find(requested: string): Promise<void> {
    while (!this.#rest.includes(requested)) await this.#more();
    this.#rest = this.#rest.subarray(
      this.#rest.indexOf(requested) + requested.length,
    );
  }

  /** RFB 3.8 up to the name of the screen. @returns that, and its size */
  async shakeHands(): Promise<{ name: string; width: number; height: number }> {
    await this.read(12);
    this.write("RFB 003.008\n");
    const [kinds] = await this.read(1);
    await this.read(kinds!);
    this.write(Buffer.from([1]));
    await this.read(4);
    this.write(Buffer.from([1]));
    const init = await this.read(24);
    const name = (await this.read(init.readUInt32BE(20))).toString();
    return { name, width: init.readUInt16BE(0), height: init.readUInt16BE(2) };
  }

  /** The whole picture: its pixels. */
  async picture(width: number, height: number): Promise<Buffer> {
    const request = Buffer.alloc(10);
    request[0] = 3;
    request.writeUInt16BE(width, 6);
    request.writeUInt16BE(height, 8);
    this.write(request);
    const head = await this.read(4);
    const parts: Buffer[] = [];
    for (let left = head.readUInt16BE(2); left > 0; left--) {
      const rectangle = await this.read(12);
      const [w, h] = [rectangle.readUInt16BE(4), rectangle.readUInt16BE(6)];
      parts.push(await this.read(4 * w * h));
    }
    return Buffer.concat(parts);
  }

  key(symbol: number): void {
    for (const down of [1, 0]) {
      const event = Buffer.alloc(8);
      event[0] = 4;
      event[1] = down;
      event.writeUInt32BE(symbol, 4);
      this.write(event);
    }
  }

  async #more(): Promise<void> {
    if (this.socket.readyState > WebSocket.OPEN)
      throw new Error("the console has ended");
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** @throws Error if it was refused */
export function opened(outcome: ConsoleClient | Refusal): ConsoleClient {
  if (outcome instanceof ConsoleClient) return outcome;
  throw new Error(`refused: ${JSON.stringify(outcome)}`);
}
