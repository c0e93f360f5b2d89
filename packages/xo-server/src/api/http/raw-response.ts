import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { securityHeaders } from "./security-headers.js";

/** Sends an HTTP response on a raw socket and ends it: for rejected upgrades and unreadable requests. */
export function endWithResponse(
  socket: Duplex,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = `${text}\n`;
  const all = {
    ...securityHeaders,
    "content-type": "text/plain; charset=utf-8",
    ...headers,
    connection: "close",
    "content-length": String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`,
  );
}
