import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A way to a server of this machine that can be cut and mended. */
export class Line {
  readonly #server = createServer((near) => {
    this.#opened(near);
  });
  readonly #to: number;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  static async to(port: number): Promise<Line> {
    const line = new Line(port);
    line.#server.listen(0, "127.0.0.1");
    await once(line.#server, "listening");
    return line;
  }

  private constructor(to: number) {
    this.#to = to;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  #opened(near: Socket): void {
    if (this.#isCut) return void near.destroy();
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
