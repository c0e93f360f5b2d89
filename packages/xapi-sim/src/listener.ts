import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { AddressInfo } from "node:net";

/** PEM texts. */
export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
}

/** One address at which a member of a pool takes connections. */
export class Listener {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #tls: boolean;
  #onSocket: ((socket: Socket) => void) | undefined;
  /** Connections accepted before they could be served. */
  #early: Socket[] = [];

  constructor(tls: TlsIdentity | undefined) {
    this.#tls = tls !== undefined;
    const take = (socket: Socket): void => this.#take(socket);
    this.#server =
      tls === undefined ? createServer(take) : createTlsServer(tls, take);
    this.#server.on("tlsClientError", () => undefined);
  }

  /** @throws Error EADDRINUSE, EADDRNOTAVAIL */
  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get host(): string {
    return (this.#server.address() as AddressInfo).address;
  }

  get url(): string {
    const scheme = this.#tls ? "https" : "http";
    const host = this.host.includes(":") ? `[${this.host}]` : this.host;
    return `${scheme}://${host}:${this.port}`;
  }

  /** Connections that came before this call are served now. */
  serve(onSocket: (socket: Socket) => void): void {
    this.#onSocket = onSocket;
    for (const socket of this.#early) onSocket(socket);
    this.#early = [];
  }

  /** Breaks all connections; new ones are taken. */
  disconnectAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.disconnectAll();
    await closed;
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    if (this.#onSocket !== undefined) this.#onSocket(socket);
    else this.#early.push(socket);
  }
}
