import { connect, type Socket } from "node:net";
import type { RawPoster } from "./raw-xapi.js";

/**
 * Reads with a socket that writes into one fixed buffer and parses only the
 * header: the lower bound for any client on this machine. Plain HTTP only, one
 * request at a time per connection, responses with a Content-Length.
 */
export function createOnreadPoster(base: string): RawPoster {
  const url = new URL("/jsonrpc", base);
  if (url.protocol !== "http:")
    throw new Error("download:onread reads plain http only");
  const idle: Line[] = [];
  const all: Line[] = [];
  const post = async (body: string, keep: boolean): Promise<Answer> => {
    const line = idle.pop() ?? openLine(url, all);
    const answer = await line.send(
      `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      keep,
    );
    idle.push(line);
    return answer;
  };
  return {
    text: async (body) => (await post(body, true)).text,
    drain: async (body) => (await post(body, false)).bytes,
    close: () => {
      for (const line of all) line.socket.destroy();
    },
  };
}

interface Answer {
  readonly bytes: number;
  /** Empty unless requested. */
  readonly text: string;
}

interface Line {
  readonly socket: Socket;
  send(request: string, keep: boolean): Promise<Answer>;
}

interface Pending {
  readonly keep: boolean;
  readonly kept: Buffer[];
  header: string;
  /** Bytes of the body still to come; undefined while the header is. */
  missing: number | undefined;
  bytes: number;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

function openLine(url: URL, all: Line[]): Line {
  let pending: Pending | undefined;
  const buffer = Buffer.allocUnsafeSlow(256 * 1024);
  const socket = connect({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 80),
    onread: {
      buffer,
      callback(length) {
        if (pending !== undefined && take(pending, buffer.subarray(0, length)))
          pending = undefined;
        return true;
      },
    },
  });
  socket.setNoDelay(true);
  socket.on("error", (error) => pending?.reject(error));
  socket.on("close", () =>
    pending?.reject(new Error("the pool closed the connection")),
  );
  const line: Line = {
    socket,
    send: (request, keep) =>
      new Promise((resolve, reject) => {
        pending = {
          keep,
          kept: [],
          header: "",
          missing: undefined,
          bytes: 0,
          resolve,
          reject,
        };
        socket.write(request);
      }),
  };
  all.push(line);
  return line;
}

/** True when the answer is complete. */
function take(pending: Pending, chunk: Buffer): boolean {
  let body = chunk;
  if (pending.missing === undefined) {
    const before = pending.header.length;
    pending.header += chunk.toString("latin1");
    const end = pending.header.indexOf("\r\n\r\n");
    if (end < 0) return false;
    pending.missing = Number(
      /^content-length: *(\d+)/im.exec(pending.header.slice(0, end))?.[1],
    );
    pending.bytes = pending.missing;
    body = chunk.subarray(end + 4 - before);
  }
  if (pending.keep) pending.kept.push(Buffer.from(body));
  pending.missing -= body.length;
  if (pending.missing > 0) return false;
  pending.resolve({
    bytes: pending.bytes,
    text: Buffer.concat(pending.kept).toString(),
  });
  return true;
}
