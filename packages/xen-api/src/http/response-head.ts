/** Status line and headers of an answer. */
export interface ResponseHead {
  readonly version: "1.0" | "1.1";
  readonly status: number;
  readonly reason: string;
  /** Names in lower case; the last value of a repeated header. */
  readonly headers: ReadonlyMap<string, string>;
}

/** Maximum size of a head, in bytes; those of XAPI have about 300. */
export const MAX_HEAD_BYTES = 65_536;

/** Offset after the blank line that ends the head, or -1. */
export function headEnd(bytes: Uint8Array): number {
  const at = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    bytes.byteLength,
  ).indexOf("\r\n\r\n");
  return at === -1 ? -1 : at + 4;
}

/** Parses a head, with or without the blank line; undefined if it is invalid. */
export function parseHead(bytes: Uint8Array): ResponseHead | undefined {
  const lines = Buffer.from(bytes).toString("latin1").split("\r\n");
  const status = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/.exec(lines[0] ?? "");
  if (status === null) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0)
      headers.set(
        line.slice(0, colon).toLowerCase(),
        line.slice(colon + 1).trim(),
      );
  }
  const length = headers.get("content-length");
  if (length !== undefined && !/^\d+$/.test(length)) return undefined;
  return {
    version: status[1] === "0" ? "1.0" : "1.1",
    status: Number(status[2]),
    reason: status[3] ?? "",
    headers,
  };
}

/** How the end of the body is determined. */
type BodyEnd =
  | { readonly by: "length"; readonly length: number }
  | { readonly by: "chunks" }
  | { readonly by: "close" };

/**
 * How to find the end of the body of this response (RFC 9112, section 6.3; of
 * requests other than HEAD and CONNECT).
 */
export function bodyEnd(head: ResponseHead): BodyEnd {
  if (head.status === 204 || head.status === 304)
    return { by: "length", length: 0 };
  if (/\bchunked\b/i.test(head.headers.get("transfer-encoding") ?? ""))
    return { by: "chunks" };
  const length = head.headers.get("content-length");
  return length !== undefined
    ? { by: "length", length: Number(length) }
    : { by: "close" };
}

/** Can the connection be reused? */
export function keepsAlive(head: ResponseHead): boolean {
  const connection = (head.headers.get("connection") ?? "").toLowerCase();
  if (bodyEnd(head).by === "close") return false;
  return head.version === "1.1"
    ? !connection.includes("close")
    : connection.includes("keep-alive");
}
