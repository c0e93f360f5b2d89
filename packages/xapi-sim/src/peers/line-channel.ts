import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { XapiFailure } from "../xapi-failure.js";

/** Limit of a message: records, and some blocks of disks. */
const LINE_LIMIT = 128 * 2 ** 20;

/** Messages between peers. */
type PeerMessage = Readonly<Record<string, unknown>>;

/** The other side disconnected before it answered. */
export class PeerDisconnected extends Error {}

/** Messages as lines of JSON over a connection, both ways. */
export class LineChannel {
  readonly #stream: Duplex;
  readonly #lines: PeerMessage[] = [];
  readonly #parts: Buffer[] = [];
  #length = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    stream.resume();
    for (const event of ["end", "close", "error"])
      stream.on(event, () => {
        this.#ended = true;
        this.#wake();
      });
  }

  get isOpen(): boolean {
    return !this.#ended;
  }

  send(message: PeerMessage): void {
    if (!this.#stream.destroyed)
      this.#stream.write(`${JSON.stringify(message)}\n`);
  }

  /** The next message; undefined when the other side has disconnected. */
  async receive(): Promise<PeerMessage | undefined> {
    while (this.#lines.length === 0 && !this.#ended)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#lines.shift();
  }

  /** @throws XapiFailure that the peer has sent; PeerDisconnected */
  async request(message: PeerMessage): Promise<PeerMessage> {
    this.send(message);
    const answer = await this.receive();
    if (answer === undefined) throw new PeerDisconnected("the peer has gone");
    if (typeof answer["error"] === "string")
      throw new XapiFailure(
        answer["error"],
        (answer["params"] ?? []) as readonly string[],
      );
    return answer;
  }

  /** Does not keep the process alive. */
  unref(): this {
    if (this.#stream instanceof Socket) this.#stream.unref();
    return this;
  }

  close(): void {
    this.#stream.destroy();
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#parts.push(rest.subarray(0, end));
      this.#read(Buffer.concat(this.#parts.splice(0)).toString());
      this.#length = 0;
      rest = rest.subarray(end + 1);
    }
    this.#parts.push(rest);
    this.#length += rest.length;
    if (this.#length > LINE_LIMIT) this.#stream.destroy();
  }

  /** Reads messages; an invalid one closes the channel. */
  #read(line: string): void {
    try {
      this.#lines.push(JSON.parse(line) as PeerMessage);
      this.#wake();
    } catch {
      this.#stream.destroy();
    }
  }
}
