import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/**
 * Behavior of the network: `half-open`: connections are accepted and stay open, but
 * transmit nothing; `refuse`: connections are closed, new ones too.
 */
export type LinkFault = "half-open" | "refuse";

/** A network between a client and a pool, which fails on request. */
export class FaultyLink {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  /** Names of the methods that clients have called, in JSON, whether or not they passed. */
  readonly called: string[] = [];
  #dropped = new Set<Socket>();
  #fault: LinkFault | undefined;
  #answers: Buffer[] = [];

  /** @param target URL of the pool */
  static async open(target: string): Promise<FaultyLink> {
    const link = new FaultyLink(target);
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((client) => this.#accept(client));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Whether a socket is one of its own. */
  has(socket: Socket): boolean {
    return this.#sockets.has(socket);
  }

  set(fault: LinkFault): void {
    this.#fault = fault;
    if (fault === "refuse") this.reset();
  }

  /** Breaks all connections. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /**
   * From now on existing connections stay open but transmit nothing, as after a
   * firewall has dropped their state.
   */
  forget(): void {
    this.#dropped = new Set(this.#sockets);
  }

  /** The next requests are answered with these bytes; then their connections are closed. */
  answerNext(answer: Buffer, times = 1): void {
    for (let i = 0; i < times; i++) this.#answers.push(answer);
  }

  /** From now on everything is transmitted. Connections on which bytes were lost are closed. */
  clear(): void {
    this.#answers = [];
    if (this.#fault === undefined) return;
    this.#fault = undefined;
    this.reset();
  }

  stop(): Promise<void> {
    this.reset();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #accept(client: Socket): void {
    this.#follow(client);
    if (this.#fault === "refuse") {
      client.resetAndDestroy();
      return;
    }
    const pool = connect(Number(this.#target.port), this.#target.hostname);
    this.#follow(pool);
    client.on("data", (bytes: Buffer) => {
      for (const [, method] of String(bytes).matchAll(/"method":"([\w.]+)"/g))
        this.called.push(method!);
      if (this.#fault !== undefined || this.#dropped.has(client)) return;
      const answer = this.#answers.shift();
      if (answer === undefined) pool.write(bytes);
      else client.end(answer);
    });
    pool.on("data", (bytes: Buffer) => {
      if (this.#fault !== undefined || this.#dropped.has(client)) return;
      if (client.writable) client.write(bytes);
    });
    client.on("close", () => pool.destroy());
    pool.on("close", () => client.destroy());
  }

  #follow(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
