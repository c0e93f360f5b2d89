import { XoError } from "@xo-server/model";
import { isOlderToken } from "../../src/events/event-token.js";
import { parseAddress, siblingAddress } from "../../src/http/address.js";
import { BodyReader } from "../../src/http/body-reader.js";
import {
  headEnd,
  keepsAlive,
  parseHead,
} from "../../src/http/response-head.js";

export const seeds = [
  "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
  "HTTP/1.0 302 Found\r\nlocation: https://[2001:db8::1]:443/x\r\n\r\n",
];

const LIMIT = 1_000_000;

/** An answer as it arrives: in pieces of 7 bytes. */
export function run(input: Buffer): void {
  try {
    const end = headEnd(input);
    const head = parseHead(input.subarray(0, end === -1 ? input.length : end));
    if (head === undefined) return;
    keepsAlive(head);
    const location = head.headers.get("location") ?? "192.0.2.1";
    siblingAddress(parseAddress("https://192.0.2.1"), location);
    isOlderToken(location, head.reason);
    const space = new Uint8Array(64);
    const reader = new BodyReader(
      head,
      { space: () => space, commit: () => true },
      LIMIT,
    );
    for (let at = end; at < input.length && !reader.isComplete; at += 7)
      reader.write(input.subarray(at, at + 7));
  } catch (error) {
    // A plain Error is documented for invalid chunks; a TypeError is a defect.
    const isDocumented =
      error instanceof XoError ||
      (error instanceof Error && error.constructor === Error);
    if (!isDocumented) throw error;
  }
}
