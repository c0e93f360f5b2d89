import { XoError } from "@xo-server/model";
import type { BodySink } from "./body-reader.js";
import type { ResponseHead } from "./response-head.js";

const MAX_PAGE_BYTES = 8_192;

/** Collects the HTML page of an HTTP error, up to 8 KiB. */
export class ErrorPage implements BodySink {
  readonly #address: string;
  readonly #head: ResponseHead;
  readonly #bytes = new Uint8Array(MAX_PAGE_BYTES);
  #length = 0;

  constructor(address: string, head: ResponseHead) {
    this.#address = address;
    this.#head = head;
  }

  space(): Uint8Array {
    // Beyond the limit the last kilobyte is overwritten repeatedly.
    return this.#length < MAX_PAGE_BYTES - 1024
      ? this.#bytes.subarray(this.#length)
      : this.#bytes.subarray(MAX_PAGE_BYTES - 1024);
  }

  commit(length: number): boolean {
    if (this.#length < MAX_PAGE_BYTES - 1024) this.#length += length;
    return true;
  }

  toError(): XoError {
    const page = Buffer.from(this.#bytes.subarray(0, this.#length)).toString();
    const text = `${this.#head.reason} ${page.replace(/<[^>]*>/g, " ")}`;
    return new XoError("HTTP_STATUS", {
      address: this.#address,
      status: this.#head.status,
      text: text.replace(/\s+/g, " ").trim().slice(0, 500),
    });
  }
}
