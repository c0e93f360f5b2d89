/** Of what a server sends: not masked. */
const LONGEST_HEADER = 10;
const FIN = 0x80;
const OPCODE = 0x0f;
const CONTROL = 0x08;

/** Counts WebSocket messages in a stream of bytes without looking into them: the least that a receiver can do. */
export class FrameCounter {
  messages = 0;
  /** Of frames that hold data. */
  payloadBytes = 0;
  readonly #header = Buffer.alloc(LONGEST_HEADER);
  #headerLength = 0;
  /** Still to come of the current frame. */
  #left = 0;
  #ends = false;

  /** @returns true when this brought a message to its end */
  add(chunk: Buffer): boolean {
    const before = this.messages;
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        at += taken;
        this.#left -= taken;
        if (this.#left === 0) this.#endFrame();
      } else at += this.#addHeader(chunk, at);
    }
    return this.messages > before;
  }

  /** @returns how many bytes it took */
  #addHeader(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      this.#header[this.#headerLength++] = chunk[at++]!;
      if (this.#headerLength < headerLength(this.#header[1]!)) continue;
      if (this.#headerLength >= 2) {
        this.#beginFrame();
        break;
      }
    }
    return at - from;
  }

  #beginFrame(): void {
    const [first = 0, second = 0] = this.#header;
    const length = second & 0x7f;
    if (length < 126) this.#left = length;
    else if (length === 126) this.#left = this.#header.readUInt16BE(2);
    else this.#left = Number(this.#header.readBigUInt64BE(2));
    const isData = (first & OPCODE) < CONTROL;
    if (isData) this.payloadBytes += this.#left;
    this.#ends = isData && (first & FIN) !== 0;
    this.#headerLength = 0;
    this.#header[1] = 0;
    if (this.#left === 0) this.#endFrame();
  }

  #endFrame(): void {
    if (this.#ends) this.messages++;
    this.#ends = false;
  }
}

function headerLength(second: number): number {
  const length = second & 0x7f;
  if (length < 126) return 2;
  return length === 126 ? 4 : LONGEST_HEADER;
}
