const CR_LF = /\r?\n$/;
const LINE_FEED = 0x0a;
/** Maximum length of the line with the size of a chunk, or of a trailer. */
const MAX_LINE = 1024;

/** Decodes a chunked body. XAPI never sends one, a proxy in between may. */
export class ChunkedBody {
  #state: "size" | "data" | "data-end" | "trailer" | "done" = "size";
  #line = "";
  #remaining = 0;

  get isDone(): boolean {
    return this.#state === "done";
  }

  /**
   * The content in `bytes`, as one copy: a body may consist of very small chunks.
   * Bytes after the end are ignored.
   * @throws Error for invalid chunk framing
   */
  decode(bytes: Uint8Array): Uint8Array {
    const content = new Uint8Array(bytes.length);
    let length = 0;
    let at = 0;
    while (at < bytes.length && !this.isDone) {
      if (this.#state === "data") {
        const end = Math.min(bytes.length, at + this.#remaining);
        content.set(bytes.subarray(at, end), length);
        length += end - at;
        this.#remaining -= end - at;
        at = end;
        if (this.#remaining === 0) this.#state = "data-end";
      } else {
        at = this.#readLine(bytes, at);
      }
    }
    return content.subarray(0, length);
  }

  /** @returns the offset of the next byte that was not read */
  #readLine(bytes: Uint8Array, from: number): number {
    const lineFeed = bytes.indexOf(LINE_FEED, from);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    if (this.#line.length + end - from > MAX_LINE)
      throw new Error("chunk header too long");
    for (let at = from; at < end; at++)
      this.#line += String.fromCharCode(bytes[at]!);
    if (lineFeed >= 0) this.#endLine();
    return end;
  }

  #endLine(): void {
    const line = this.#line.replace(CR_LF, "");
    this.#line = "";
    if (this.#state === "size") {
      const size = /^[0-9a-f]{1,12}(?=[;\s]|$)/i.exec(line)?.[0];
      if (size === undefined) throw new Error("chunk size expected");
      this.#remaining = Number.parseInt(size, 16);
      this.#state = this.#remaining === 0 ? "trailer" : "data";
    } else if (this.#state === "data-end") {
      this.#state = "size";
    } else if (line === "") {
      this.#state = "done";
    }
  }
}
