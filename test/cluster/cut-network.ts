import { once } from "node:events";
import {
  connect,
  createServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";

/** The network between one server and something that it uses. While it is cut nothing passes, and nothing is answered. */
export class CutNetwork {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  /** Connections that were established. */
  passed = 0;

  private constructor(target: URL | undefined) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      this.#add(client);
      if (target !== undefined) this.#connect(client, target, "");
      else
        client.once("data", (head: Buffer) => {
          const [, host] =
            /^CONNECT ([^ ]+) /.exec(head.toString("latin1")) ?? [];
          const to = new URL(`tcp://${host}`);
          this.#connect(client, to, "HTTP/1.1 200 OK\r\n\r\n");
        });
    });
  }

  /** @param target absent: it is an HTTP proxy, so that a pool has the same address for all servers */
  static async open(target?: string): Promise<CutNetwork> {
    const network = new CutNetwork(target ? new URL(target) : undefined);
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** Connections that were cut stay silent. */
  repair(): void {
    this.#isCut = false;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #connect(client: Socket, { hostname, port }: URL, answer: string): void {
    if (this.#isCut) return;
    const to = { host: hostname, port: Number(port), allowHalfOpen: true };
    const target = connect(to);
    this.#add(target);
    target.once("connect", () => {
      if (this.#isCut) return;
      this.passed++;
      if (answer !== "") client.write(answer);
      client.pipe(target);
      target.pipe(client);
    });
    target.once("close", () => {
      if (!this.#isCut) client.destroy();
    });
    client.once("close", () => target.destroy());
  }
}
