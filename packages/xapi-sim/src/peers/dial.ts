import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { LineChannel } from "./line-channel.js";

const ANSWER_LIMIT = 16 * 1024;

/** The peer refuses the caller: its HTTP status. */
export class PeerRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the peer answers ${status}`);
    this.status = status;
  }
}

/**
 * Opens a channel to another simulated pool, in this process or any other.
 *
 * @param path with the query
 * @throws PeerRefusal; Error if the peer does not answer
 */
export async function dial(
  base: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<LineChannel> {
  const { protocol, hostname, port } = new URL(base);
  const secure = protocol === "https:";
  const to = {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (secure ? 443 : 80),
  };
  // Pools know each other's addresses, not their certificates.
  const socket = secure
    ? connectTls({ ...to, rejectUnauthorized: false })
    : connect(to);
  const lines = Object.entries(headers).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.on(secure ? "secureConnect" : "connect", () => {
    socket.write(`CONNECT ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  });
  const status = await answerOf(socket);
  if (status !== 200) {
    socket.destroy();
    throw new PeerRefusal(status);
  }
  return new LineChannel(socket);
}

/** Reads the head of the answer and leaves the rest in the socket. */
function answerOf(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
    const fail = () => {
      socket.destroy();
      reject(new Error("the peer does not answer"));
    };
    const take = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0 && head.length > ANSWER_LIMIT) fail();
      if (end < 0) return;
      socket.off("data", take).off("close", fail).off("error", fail);
      socket.on("error", () => socket.destroy());
      socket.pause();
      const rest = head.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      resolve(Number(/^HTTP\/1\.\d (\d{3})/.exec(head.toString())?.[1] ?? 0));
    };
    socket.on("data", take).on("close", fail).on("error", fail);
  });
}
