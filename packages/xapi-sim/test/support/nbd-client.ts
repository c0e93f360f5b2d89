import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

const OPTION_MAGIC = "49484156454f5054";

export interface OptionReply {
  readonly type: number;
  readonly data: Buffer;
}

export interface Reply {
  /** errno; 0: none. */
  readonly error: number;
  /** Of a simple reply. */
  readonly data: Buffer;
  /** Of a structured one: type and what follows. */
  readonly chunks: readonly {
    readonly type: number;
    readonly data: Buffer;
  }[];
}

/** A client of NBD that does what a test says, also what is wrong. */
export class NbdClient {
  #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => undefined;
  #handle = 0n;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen();
  }

  /** Connected, with the flags exchanged. */
  static async open(address: string, port: number): Promise<NbdClient> {
    const client = new NbdClient(connect(port, address));
    await client.take(18);
    client.send(uint32(3));
    return client;
  }

  send(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  async startTls(ca: string): Promise<void> {
    await this.option(5);
    this.#socket.removeAllListeners("data");
    const secured = connectTls({
      socket: this.#socket,
      ca,
      servername: "localhost",
    });
    await new Promise<void>((resolve, reject) => {
      secured.once("secureConnect", resolve).once("error", reject);
    });
    this.#socket = secured;
    this.#listen();
  }

  /** @returns the replies up to ACK or an error */
  async option(
    number: number,
    data: Buffer = Buffer.alloc(0),
  ): Promise<OptionReply[]> {
    this.send(
      Buffer.concat([
        Buffer.from(OPTION_MAGIC, "hex"),
        uint32(number, data.length),
        data,
      ]),
    );
    const replies: OptionReply[] = [];
    for (;;) {
      const head = await this.take(20);
      const reply = {
        type: head.readUInt32BE(12),
        data: await this.take(head.readUInt32BE(16)),
      };
      replies.push(reply);
      if (reply.type === 1 || reply.type >= 2 ** 31) return replies;
    }
  }

  go(name: string): Promise<OptionReply[]> {
    return this.option(7, Buffer.concat([named(name), Buffer.alloc(2)]));
  }

  async structured(name: string): Promise<void> {
    await this.option(8);
    const query = named("base:allocation");
    await this.option(10, Buffer.concat([named(name), uint32(1), query]));
  }

  request(
    type: number,
    offset: number,
    length: number,
    { flags = 0, data = Buffer.alloc(0) } = {},
  ): void {
    const head = Buffer.alloc(28);
    head.writeUInt32BE(0x25609513, 0);
    head.writeUInt16BE(flags, 4);
    head.writeUInt16BE(type, 6);
    head.writeBigUInt64BE(++this.#handle, 8);
    head.writeBigUInt64BE(BigInt(offset), 16);
    head.writeUInt32BE(length, 24);
    this.send(Buffer.concat([head, data]));
  }

  /** @param length of the data of a simple reply */
  async reply(length = 0): Promise<Reply> {
    const chunks: { type: number; data: Buffer }[] = [];
    for (;;) {
      const magic = (await this.take(4)).readUInt32BE();
      if (magic === 0x67446698) {
        const error = (await this.take(12)).readUInt32BE();
        const data = await this.take(error === 0 ? length : 0);
        return { error, data, chunks };
      }
      const head = await this.take(16);
      const type = head.readUInt16BE(2);
      const data = await this.take(head.readUInt32BE(12));
      chunks.push({ type, data });
      if ((head.readUInt16BE(0) & 1) === 1) {
        const error = type === 32769 ? data.readUInt32BE() : 0;
        return { error, data: Buffer.alloc(0), chunks };
      }
    }
  }

  /** A read in simple or structured replies. @throws Error for an error reply */
  async read(offset: number, length: number): Promise<Buffer> {
    this.request(0, offset, length);
    const { error, data, chunks } = await this.reply(length);
    if (error !== 0) throw new Error(`error ${error}`);
    if (chunks.length === 0) return data;
    const into = Buffer.alloc(length, 0x55);
    for (const { type, data: chunk } of chunks) {
      const at = Number(chunk.readBigUInt64BE()) - offset;
      if (type === 1) chunk.copy(into, at, 8);
      else into.fill(0, at, at + chunk.readUInt32BE(8));
    }
    return into;
  }

  /** @throws Error when the connection ends before */
  async take(count: number): Promise<Buffer> {
    while (this.#received.length < count) {
      if (this.#ended) throw new Error("the server has gone");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const bytes = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return bytes;
  }

  /** Resolves when the server has closed the connection. */
  async ended(): Promise<void> {
    while (!this.#ended)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  get receivedBytes(): number {
    return this.#received.length;
  }

  close(): void {
    this.#socket.destroy();
  }

  #listen(): void {
    const end = () => {
      this.#ended = true;
      this.#wake();
    };
    this.#socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    for (const event of ["end", "close", "error"]) this.#socket.on(event, end);
  }
}

export function named(text: string): Buffer {
  return Buffer.concat([uint32(Buffer.byteLength(text)), Buffer.from(text)]);
}

export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => bytes.writeUInt32BE(value, 4 * i));
  return bytes;
}
