/** The first lines of a request, read. */
export interface RequestHead {
  readonly method: string;
  /** As sent, with query. */
  readonly target: string;
  /** Without query, percent-decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly version: "1.0" | "1.1";
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly contentLength: number | undefined;
  /** Whether the connection stays open after this request. */
  readonly keepAlive: boolean;
}

/** Reads a header block (with its blank line). Undefined: not a request, which XAPI never completes. */
export function parseHead(block: Buffer): RequestHead | undefined {
  const [requestLine = "", ...lines] = block
    .toString("latin1")
    .trimEnd()
    .split("\r\n");
  const match = /^(\S+) (\S+) HTTP\/(1\.[01])$/.exec(requestLine);
  if (match === null) return undefined;
  const [, method, target, version] = match as unknown as [
    string,
    string,
    string,
    "1.0" | "1.1",
  ];
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0)
      headers.set(
        line.slice(0, colon).trim().toLowerCase(),
        line.slice(colon + 1).trim(),
      );
  }
  const question = target.indexOf("?");
  return {
    method,
    target,
    path: decodePath(question < 0 ? target : target.slice(0, question)),
    query: new URLSearchParams(question < 0 ? "" : target.slice(question + 1)),
    version,
    headers,
    contentLength: parseLength(headers.get("content-length")),
    keepAlive: staysOpen(version, headers.get("connection")),
  };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not percent-encoded: the path as it was sent.
    return path;
  }
}

function parseLength(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function staysOpen(
  version: "1.0" | "1.1",
  connection: string | undefined,
): boolean {
  const word = connection?.toLowerCase();
  return version === "1.1" ? word !== "close" : word === "keep-alive";
}
