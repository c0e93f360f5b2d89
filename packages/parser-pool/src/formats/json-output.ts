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
 * Where a transcoder writes JSON. One is used again for every task of a
 * thread; the room for a task is made once, at its start, so that no write has
 * to look.
 */
export class JsonOutput {
  bytes = new Uint8Array(1 << 16);
  view = new DataView(this.bytes.buffer);
  /** Where the next byte goes. */
  used = 0;

  /** Empties it and makes room for `capacity` bytes. */
  reset(capacity: number): void {
    this.used = 0;
    const needed = capacity + SLACK;
    // An unusually large one is not kept.
    if (needed <= this.bytes.length && this.bytes.length <= 4 * needed) return;
    if (needed <= this.bytes.length && this.bytes.length <= KEPT) return;
    this.bytes = new Uint8Array(Buffer.allocUnsafeSlow(needed).buffer);
    this.view = new DataView(this.bytes.buffer);
  }

  byte(code: number): void {
    this.bytes[this.used++] = code;
  }

  /** Characters of one byte each, as they are. */
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

  /** One character in UTF-8, as it is. */
  raw(code: number): void {
    if (code < 0x80) this.byte(code);
    else this.#encode(code);
  }

  /** One character of a string, escaped where JSON asks for it. */
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

  /** What was written, in a buffer of its own with `slack` bytes more. */
  take(slack = 0): ArrayBuffer {
    const { buffer } = Buffer.allocUnsafeSlow(this.used + slack);
    new Uint8Array(buffer).set(this.bytes.subarray(0, this.used));
    return buffer;
  }
}

const KEPT = 8 * 1024 * 1024;
