import { SLACK } from "./format.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Escape letters of the control characters that have one. */
const SHORT = new Uint8Array(32);
for (const [code, letter] of [
  [8, "b"],
  [9, "t"],
  [10, "n"],
  [12, "f"],
  [13, "r"],
] as const)
  SHORT[code] = letter.charCodeAt(0);

/**
 * Output buffer of a transcoder. Reused for all tasks of a thread; the space for
 * a task is reserved at its start, so that no write checks bounds.
 */
export class JsonOutput {
  bytes = new Uint8Array(1 << 16);
  view = new DataView(this.bytes.buffer);
  /** Position of the next byte. */
  used = 0;

  /** Clears the buffer and reserves `capacity` bytes. */
  reset(capacity: number): void {
    this.used = 0;
    const needed = capacity + SLACK;
    // An unusually large buffer is not retained.
    if (needed <= this.bytes.length && this.bytes.length <= 4 * needed) return;
    if (needed <= this.bytes.length && this.bytes.length <= KEPT) return;
    this.bytes = new Uint8Array(Buffer.allocUnsafeSlow(needed).buffer);
    this.view = new DataView(this.bytes.buffer);
  }

  byte(code: number): void {
    this.bytes[this.used++] = code;
  }

  /** ASCII characters, not escaped. */
  ascii(text: string): void {
    for (let i = 0; i < text.length; i++)
      this.bytes[this.used++] = text.charCodeAt(i);
  }

  copy(bytes: Uint8Array, start: number, end: number): void {
    const to = this.bytes;
    let used = this.used;
    for (let at = start; at < end; at++) to[used++] = bytes[at]!;
    this.used = used;
  }

  /** One character in UTF-8, not escaped. */
  raw(code: number): void {
    if (code < 0x80) this.byte(code);
    else this.#encode(code);
  }

  /** One character of a JSON string, escaped if necessary. */
  character(code: number): void {
    if (code >= 0x80) this.#encode(code);
    else if (code >= 0x20) {
      if (code === QUOTE || code === BACKSLASH) this.byte(BACKSLASH);
      this.byte(code);
    } else if (SHORT[code] !== 0) {
      this.byte(BACKSLASH);
      this.byte(SHORT[code]!);
    } else this.ascii(`\\u${code.toString(16).padStart(4, "0")}`);
  }

  #encode(code: number): void {
    const text = String.fromCodePoint(code);
    this.used += Buffer.from(this.bytes.buffer).write(text, this.used);
  }

  text(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, start, end - start).toString();
  }

  /** A copy of the output in a buffer with `slack` more bytes. */
  take(slack = 0): ArrayBuffer {
    const { buffer } = Buffer.allocUnsafeSlow(this.used + slack);
    new Uint8Array(buffer).set(this.bytes.subarray(0, this.used));
    return buffer;
  }
}

const KEPT = 8 * 1024 * 1024;
