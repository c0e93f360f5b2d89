import { createReadStream } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { WebSocketServer, type WebSocket } from "ws";
import "./server-probe.js";

/** As large as the fragments of the server that it is compared with. */
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

/** One message in fragments, read as it is sent: what the server does with what it has in memory. */
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
