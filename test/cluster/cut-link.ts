import { once } from "node:events";
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** `requests`: they do not reach the pool; `answers`: requests do, their answers do not return. */
export type Direction = "requests" | "answers";

/** The network between one server and a pool, which can be cut in one direction. */
export class CutLink {
  readonly #server: Server;
  readonly #target: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #stuck = new Set<IncomingMessage>();
  #cut: Direction | undefined;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((message, response) => {
      void this.#pass(message, response).catch(() => message.destroy());
    });
  }

  /** @param target URL of the pool */
  static async open(target: string): Promise<CutLink> {
    const link = new CutLink(target);
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(direction: Direction): void {
    this.#cut = direction;
  }

  /** @param closes false: connections on which something was lost stay open and silent, as if a firewall had forgotten them */
  repair({ closes }: { readonly closes: boolean }): void {
    this.#cut = undefined;
    // A message that was read does not close its connection.
    if (closes) for (const { socket } of this.#stuck) socket.destroy();
    this.#stuck.clear();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(message: IncomingMessage, response: ServerResponse) {
    const body = await buffer(message);
    if (this.#isStuck("requests", message)) return;
    const { method, headers, url: path } = message;
    const onward = request(new URL(path!, this.#target), {
      method: method!,
      headers,
      agent: this.#agent,
    });
    response.on("close", () => {
      if (!response.writableFinished) onward.destroy();
    });
    onward.end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    if (this.#isStuck("answers", message)) {
      answer.resume();
      return;
    }
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  }

  #isStuck(direction: Direction, message: IncomingMessage): boolean {
    if (this.#cut !== direction) return false;
    this.#stuck.add(message);
    return true;
  }
}
