import type { Socket } from "node:net";
import type { SimulatorClock } from "../clock.js";
import type { Faults } from "../faults/transport-faults.js";
import type { Chunk } from "../rpc/answer.js";
import { crashed } from "./error-pages.js";
import { bodyLength, headText, type Header, type Reply } from "./reply.js";
import { gather, writeChunks, writeOne } from "./body-writer.js";

/** Writes responses, changed by the faults that are switched on. */
export class FaultyWriter {
  readonly #socket: Socket;
  readonly #clock: SimulatorClock;
  readonly #faults: Faults;

  constructor(socket: Socket, clock: SimulatorClock, faults: Faults) {
    this.#socket = socket;
    this.#clock = clock;
    this.#faults = faults;
  }

  /**
   * @param method the XAPI call answered, if it is one
   * @returns whether the connection can go on
   */
  async write(reply: Reply, method?: string): Promise<boolean> {
    if (this.#faults.trigger("hang", method) !== undefined)
      return this.#waitForClose();
    if (this.#faults.trigger("drop", method) !== undefined) {
      this.#socket.destroy();
      return false;
    }
    const delay = this.#faults.trigger("delay", method);
    if (typeof delay === "number") await this.#wait(delay);
    if (this.#faults.trigger("http500", method) !== undefined)
      reply = crashed(reply.version, 'Failure("simulated fault")');
    reply = this.#corrupt(reply, method);
    const cut = this.#faults.trigger("cut", method);
    if (typeof cut === "number" && cut < bodyLength(reply.body))
      return this.#cut(reply, cut);
    const stall = this.#faults.trigger("stall", method);
    if (typeof stall === "number" && stall < bodyLength(reply.body))
      return this.#stall(reply, stall);
    const rate = this.#faults.trigger("trickle", method);
    const pieces = [
      headText(reply.version, reply.status, reply.headers),
      ...reply.body,
    ];
    const whole =
      typeof rate === "number"
        ? await this.#trickle(pieces, rate)
        : await writeChunks(this.#socket, pieces);
    return whole && reply.keepAlive;
  }

  /**
   * The faults that trigger before a handler starts: `hang`, `drop`, `delay`, `http500`, where they
   * name its method.
   * @returns whether it may start; else the connection is over, or the page has been sent
   */
  async before(method: string, version: "1.0" | "1.1"): Promise<boolean> {
    if (this.#faults.takeNamed("hang", method) !== undefined)
      return this.#waitForClose();
    if (this.#faults.takeNamed("drop", method) !== undefined) {
      this.#socket.destroy();
      return false;
    }
    const delay = this.#faults.takeNamed("delay", method);
    if (typeof delay === "number") await this.#wait(delay);
    if (this.#faults.takeNamed("http500", method) === undefined) return true;
    await this.write(crashed(version, 'Failure("simulated fault")'));
    return false;
  }

  /** The body made unreadable; lengths stay true. */
  #corrupt(reply: Reply, method: string | undefined): Reply {
    const type = reply.headers.find(([name]) => name === "content-type")?.[1];
    let body: Buffer | undefined;
    if (type === "application/json" && this.#triggers("badJson", method))
      body = insert(reply, Buffer.from('"}{'));
    else if (type === "text/xml" && this.#triggers("badXml", method))
      body = insert(reply, Buffer.from("<oops &"));
    if (this.#triggers("invalidUtf8", method))
      body = insert(reply, Buffer.from([0xff, 0xfe]));
    const missing = this.#faults.trigger("truncated", method);
    if (typeof missing === "number") {
      const all = body ?? Buffer.concat([...gather(reply.body)]);
      body = all.subarray(0, Math.max(0, all.length - missing));
    }
    if (body === undefined) return reply;
    const length: Header = ["content-length", String(body.length)];
    return {
      ...reply,
      headers: reply.headers.map((header) =>
        header[0] === "content-length" ? length : header,
      ),
      body: [body],
    };
  }

  #triggers(
    name: "badJson" | "badXml" | "invalidUtf8",
    method: string | undefined,
  ): boolean {
    return this.#faults.trigger(name, method) !== undefined;
  }

  async #cut(reply: Reply, bytes: number): Promise<false> {
    await this.#writeStart(reply, bytes);
    this.#socket.destroySoon();
    return false;
  }

  async #stall(reply: Reply, bytes: number): Promise<false> {
    await this.#writeStart(reply, bytes);
    return this.#waitForClose();
  }

  /** The head and this number of bytes of the body. */
  #writeStart(reply: Reply, bytes: number): Promise<boolean> {
    const body = Buffer.concat([...gather(reply.body)]).subarray(0, bytes);
    return writeChunks(this.#socket, [
      headText(reply.version, reply.status, reply.headers),
      body,
    ]);
  }

  /** Resolves when the client has closed the connection. */
  async #waitForClose(): Promise<false> {
    if (!this.#socket.destroyed) {
      // The end of the stream is noticed only while it is read.
      this.#socket.resume();
      await new Promise((resolve) => this.#socket.once("close", resolve));
    }
    return false;
  }

  async #trickle(
    pieces: readonly Chunk[],
    bytesPerSecond: number,
  ): Promise<boolean> {
    const all = Buffer.concat([...gather(pieces)]);
    const step = Math.max(1, Math.ceil(bytesPerSecond / TRICKLES_PER_SECOND));
    for (let at = 0; at < all.length; at += step) {
      if (!(await writeOne(this.#socket, all.subarray(at, at + step))))
        return false;
      await this.#wait(1000 / TRICKLES_PER_SECOND);
    }
    return true;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimeout(resolve, ms);
    });
  }
}

const TRICKLES_PER_SECOND = 20;

function insert(reply: Reply, bytes: Buffer): Buffer {
  const all = Buffer.concat([...gather(reply.body)]);
  const middle = Math.floor(all.length / 2);
  return Buffer.concat([all.subarray(0, middle), bytes, all.subarray(middle)]);
}
