/** Status line and headers of an answer. */
export interface ResponseHead {
  readonly version: "1.0" | "1.1";
  readonly status: number;
  readonly reason: string;
  /** Names in lower case; of repeated headers the last. */
  readonly headers: ReadonlyMap<string, string>;
}

/** Longest head taken, in bytes; XAPI's have some 300. */
export const MAX_HEAD_BYTES = 65_536;

/** Offset behind the blank line that ends a head, or -1. */
export function headEnd(bytes: Uint8Array): number {
  const at = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    bytes.byteLength,
  ).indexOf("\r\n\r\n");
  return at === -1 ? -1 : at + 4;
}

/** Reads a head, blank line included or not; undefined when it is none. */
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
  return {
    version: status[1] === "0" ? "1.0" : "1.1",
    status: Number(status[2]),
    reason: status[3] ?? "",
    headers,
  };
}

/** How the body of an answer ends. */
export type BodyEnd =
  | { readonly by: "length"; readonly length: number }
  | { readonly by: "chunks" }
  | { readonly by: "close" };

export function bodyEnd(head: ResponseHead): BodyEnd {
  if (head.status === 204 || head.status === 304)
    return { by: "length", length: 0 };
  if (/\bchunked\b/i.test(head.headers.get("transfer-encoding") ?? ""))
    return { by: "chunks" };
  const length = head.headers.get("content-length");
  return length !== undefined && /^\d+$/.test(length)
    ? { by: "length", length: Number(length) }
    : { by: "close" };
}

/** May another request follow on the connection? */
export function keepsAlive(head: ResponseHead): boolean {
  const connection = (head.headers.get("connection") ?? "").toLowerCase();
  if (bodyEnd(head).by === "close") return false;
  return head.version === "1.1"
    ? !connection.includes("close")
    : connection.includes("keep-alive");
}
