const CR_LF = /\r?\n/;

/** Decodes a chunked body. XAPI never sends one, a proxy in between may. */
export class ChunkedBody {
  #state: "size" | "data" | "data-end" | "trailer" | "done" = "size";
  #line = "";
  #remaining = 0;

  get isDone(): boolean {
    return this.#state === "done";
  }

  /**
   * The content in `bytes`, as views of it; bytes after the end are ignored.
   * @throws Error for invalid chunk framing
   */
  decode(bytes: Uint8Array): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let at = 0;
    while (at < bytes.length && !this.isDone) {
      if (this.#state === "data") {
        const end = Math.min(bytes.length, at + this.#remaining);
        pieces.push(bytes.subarray(at, end));
        this.#remaining -= end - at;
        at = end;
        if (this.#remaining === 0) this.#state = "data-end";
      } else {
        const byte = bytes[at++]!;
        this.#line += String.fromCharCode(byte);
        if (this.#line.length > 1024) throw new Error("chunk header too long");
        if (byte === 0x0a) this.#endLine();
      }
    }
    return pieces;
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
