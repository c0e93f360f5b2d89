import type { OpenSocket, SocketHandlers } from "../src/api/socket.js";

interface Request {
  id: number;
  method: string;
  params: unknown;
}

/** The other end of the connections that a client opens; nothing happens by itself. */
export class FakeServer {
  readonly connections: FakeConnection[] = [];
  readonly openSocket: OpenSocket = (url, handlers) => {
    const connection = new FakeConnection(url, handlers);
    this.connections.push(connection);
    return connection;
  };

  get last(): FakeConnection {
    return this.connections.at(-1)!;
  }
}

export class FakeConnection {
  readonly url: string;
  readonly handlers: SocketHandlers;
  readonly requests: Request[] = [];
  closedByClient = false;

  constructor(url: string, handlers: SocketHandlers) {
    this.url = url;
    this.handlers = handlers;
  }

  send(text: string): void {
    this.requests.push(JSON.parse(text) as Request);
  }

  close(): void {
    this.closedByClient = true;
  }

  accept(): void {
    this.handlers.opened();
  }

  /** Answers the last request. */
  answer(result: unknown): void {
    const { id } = this.requests.at(-1)!;
    this.say({ jsonrpc: "2.0", id, result });
  }

  refuse(code: number, message: string): void {
    const { id } = this.requests.at(-1)!;
    this.say({ jsonrpc: "2.0", id, error: { code, message } });
  }

  notify(method: string, params: unknown): void {
    this.say({ jsonrpc: "2.0", method, params });
  }

  say(message: unknown): void {
    this.handlers.received(
      typeof message === "string" ? message : JSON.stringify(message),
    );
  }

  /** @param code without a close frame by default */
  breakOff(code = 1006): void {
    this.handlers.closed(code);
  }
}

/** Runs the callbacks of settled promises. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
