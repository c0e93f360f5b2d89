import { XoError } from "@xo-server/model";
import { addressName, type Address } from "./address.js";

/** Maximum size that XAPI accepts for request line, headers and blank line, in bytes (WIRE.md 1). */
const MAX_REQUEST_HEAD_BYTES = 1006;
/** Maximum size that XAPI accepts for the body of a call, in bytes. */
export const MAX_REQUEST_BODY_BYTES = 307_200;

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws XoError REQUEST_HEADER_TOO_LARGE, INVALID_PARAMETERS for control characters (header injection) */
export function requestHead(address: Address, request: RequestLine): string {
  const lines = [`${request.method} ${request.target} HTTP/1.1`];
  lines.push(`Host: ${addressName(address)}`);
  for (const [name, value] of Object.entries(request.headers))
    lines.push(`${name}: ${value}`);
  // eslint-disable-next-line no-control-regex -- a line break would inject another header
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
