import { createReadStream } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { WebSocketServer, type WebSocket } from "ws";
import "./server-probe.js";

/** The size of fragments that xo-server sends, with which this server is compared. */
const CHUNK_BYTES = 256 * 1024;
const AHEAD_BYTES = 1024 * 1024;

const file = process.argv[2] ?? "";
const http = createHttpServer();
const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
sockets.on("connection", (socket, { url }) => {
  if (url === "/file") socket.on("message", () => void sendFile(socket));
  else
    socket.on("message", (data) => {
      socket.send(data as Buffer, { binary: false });
    });
});
http.listen(0, "127.0.0.1", () => {
  process.send?.((http.address() as AddressInfo).port);
});
// Ends with its parent.
process.on("disconnect", () => process.exit(0));

/** Sends the file as one message in fragments while it is read; xo-server sends the same from memory. */
async function sendFile(socket: WebSocket): Promise<void> {
  const part = { binary: false, fin: false } as const;
  const chunks = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  for await (const chunk of chunks as AsyncIterable<Buffer>)
    if (socket.bufferedAmount < AHEAD_BYTES) socket.send(chunk, part);
    else
      await new Promise((resolve) => {
        socket.send(chunk, part, resolve);
      });
  socket.send(Buffer.alloc(0), { ...part, fin: true });
}
