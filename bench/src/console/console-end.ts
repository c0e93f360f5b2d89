import { once } from "node:events";
import { connect } from "node:net";
import { WebSocket } from "ws";

/** The client's end of a console, over any of the ways. */
export interface ConsoleEnd {
  send(bytes: Buffer): void;
  /** Receives bytes as they come. One listener. */
  onBytes(listener: (count: number) => void): void;
  close(): void;
}

/** @param url of the server @throws Error where it is refused */
export async function openThroughServer(
  url: string,
  token: string,
  id: string,
): Promise<ConsoleEnd> {
  const address = `${url.replace("http", "ws")}/api/consoles/${id}`;
  const socket = new WebSocket(address, {
    perMessageDeflate: false,
    skipUTF8Validation: true,
    headers: { cookie: `authenticationToken=${token}` },
  });
  let listener: (count: number) => void = () => undefined;
  socket.on("message", (data: Buffer) => {
    listener(data.length);
  });
  await once(socket, "open");
  return {
    send: (bytes) => {
      socket.send(bytes);
    },
    onBytes: (next) => {
      listener = next;
    },
    close: () => {
      socket.terminate();
    },
  };
}

/** @param url of the host */
export async function openBare(url: string): Promise<ConsoleEnd> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
  });
  await once(socket, "connect");
  socket.write("CONNECT /console?ref=OpaqueRef:bare HTTP/1.0\r\n\r\n");
  let listener: (count: number) => void = () => undefined;
  // The header of the response arrives alone: the next bytes need a request.
  await once(socket, "data");
  socket.on("data", (chunk) => {
    listener(chunk.length);
  });
  return {
    send: (bytes) => {
      socket.write(bytes);
    },
    onBytes: (next) => {
      listener = next;
    },
    close: () => {
      socket.destroy();
    },
  };
}
