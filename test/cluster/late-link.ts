import { once } from "node:events";
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";

/** The network between one server and a pool, which delivers some requests late: also those of a server that was killed meanwhile. */
export class LateLink {
  readonly #server: Server;
  readonly #target: URL;
  readonly #held: {
    readonly message: IncomingMessage;
    readonly body: Buffer;
  }[] = [];
  #isHeld: (body: string) => boolean = () => false;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((message, response) => {
      void this.#pass(message, response).catch(() => message.destroy());
    });
  }

  /** @param target URL of the pool */
  static async open(target: string): Promise<LateLink> {
    const link = new LateLink(target);
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of requests that were read and not delivered. */
  get held(): number {
    return this.#held.length;
  }

  /** From now on, holds back requests whose body matches. */
  hold(isHeld: (body: string) => boolean): void {
    this.#isHeld = isHeld;
  }

  /** Delivers the held requests. @returns the answers, which no client reads */
  async deliver(): Promise<readonly string[]> {
    this.#isHeld = () => false;
    const held = this.#held.splice(0);
    return Promise.all(
      held.map(async ({ message, body }) =>
        text(await this.#send(message, body)),
      ),
    );
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(message: IncomingMessage, response: ServerResponse) {
    const body = await buffer(message);
    if (this.#isHeld(body.toString())) {
      this.#held.push({ message, body });
      return;
    }
    const answer = await this.#send(message, body);
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
    response.on("close", () => answer.destroy());
  }

  async #send(
    { method, headers, url: path }: IncomingMessage,
    body: Buffer,
  ): Promise<IncomingMessage> {
    const onward = request(new URL(path!, this.#target), {
      method: method!,
      headers,
    });
    onward.end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    return answer;
  }
}
