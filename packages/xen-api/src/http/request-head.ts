import { XoError } from "@xo-server/model";
import { addressName, type Address } from "./address.js";

/** XAPI takes at most this many bytes of request line, headers and blank line (WIRE.md 1). */
export const MAX_REQUEST_HEAD_BYTES = 1006;
/** XAPI takes at most this many bytes of body in a call. */
export const MAX_REQUEST_BODY_BYTES = 307_200;

export interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws XoError REQUEST_HEADER_TOO_LARGE, INVALID_PARAMETERS for a line break where none may be */
export function requestHead(address: Address, request: RequestLine): string {
  const lines = [`${request.method} ${request.target} HTTP/1.1`];
  lines.push(`Host: ${addressName(address)}`);
  for (const [name, value] of Object.entries(request.headers))
    lines.push(`${name}: ${value}`);
  // eslint-disable-next-line no-control-regex -- a control character here would start a header of its own
  if (lines.some((line) => /[\x00-\x1f\x7f]/.test(line))) {
    const reason = "control character in a header";
    throw new XoError("INVALID_PARAMETERS", { reason });
  }
  const head = `${lines.join("\r\n")}\r\n\r\n`;
  const bytes = Buffer.byteLength(head);
  if (bytes > MAX_REQUEST_HEAD_BYTES) {
    const limit = MAX_REQUEST_HEAD_BYTES;
    throw new XoError("REQUEST_HEADER_TOO_LARGE", { bytes, limit });
  }
  return head;
}
