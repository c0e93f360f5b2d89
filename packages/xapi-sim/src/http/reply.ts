import type { Chunk } from "../rpc/answer.js";

export type Header = readonly [name: string, value: string];

/** A complete answer. Header names keep their case and order. */
export interface Reply {
  readonly version: "1.0" | "1.1";
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: readonly Chunk[];
  readonly keepAlive: boolean;
}

/** The words of XAPI's status lines, some of them its own. */
const STATUS_TEXT: Readonly<Record<number, string>> = {
  200: "OK",
  302: "Found",
  400: "Bad Request",
  401: "Unauthorised",
  403: "Forbidden",
  404: "Not Found",
  406: "Not Acceptable",
  408: "Request Timeout",
  413: "Request Entity Too Large",
  431: "Request Header Fields Too Large",
  500: "Internal Error",
  // In XAPI's words: what it answers to DELETE, HEAD and PATCH (recorded: jsonrpc-delete).
  501: "Method not implemented",
  503: "Service Unavailable",
};

/** Status line and headers, with the empty line at the end. */
export function headText(
  version: string,
  status: number,
  headers: readonly Header[],
): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/${version} ${status} ${STATUS_TEXT[status] ?? "Unknown"}\r\n${lines.join("")}\r\n`;
}

/** In bytes; strings are sent as UTF-8. */
export function bodyLength(body: readonly Chunk[]): number {
  let length = 0;
  for (const chunk of body)
    length +=
      typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.length;
  return length;
}

export const NO_CACHE: Header = ["cache-control", "no-cache, no-store"];

/** The answer to a call, headers as XAPI orders them. `cors` is absent from errors raised before dispatch. */
export function rpcReply(
  request: { readonly version: "1.0" | "1.1"; readonly keepAlive: boolean },
  contentType: string,
  body: readonly Chunk[],
  cors: boolean,
): Reply {
  const headers: Header[] = [
    ["content-length", String(bodyLength(body))],
    ["connection", request.keepAlive ? "keep-alive" : "close"],
    NO_CACHE,
    ["content-type", contentType],
  ];
  if (cors) headers.push(...CORS);
  return {
    version: request.version,
    status: 200,
    headers,
    body,
    keepAlive: request.keepAlive,
  };
}

const CORS: readonly Header[] = [
  ["Access-Control-Allow-Origin", "*"],
  ["Access-Control-Allow-Headers", "X-Requested-With"],
];
