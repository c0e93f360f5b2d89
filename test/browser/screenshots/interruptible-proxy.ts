import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Forwards TCP connections to a server of this machine, and can be interrupted. */
export class InterruptibleProxy {
  readonly #server = createServer((near) => {
    this.#opened(near);
  });
  readonly #to: number;
  readonly #sockets = new Set<Socket>();
  #isInterrupted = false;

  static async to(port: number): Promise<InterruptibleProxy> {
    const proxy = new InterruptibleProxy(port);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  private constructor(to: number) {
    this.#to = to;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  interrupt(): void {
    this.#isInterrupted = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#isInterrupted = false;
  }

  #opened(near: Socket): void {
    if (this.#isInterrupted) return void near.destroy();
    const far = connect(this.#to, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => undefined);
      one.once("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
