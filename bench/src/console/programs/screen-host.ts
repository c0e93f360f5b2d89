import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import {
  KEY_ANSWER,
  KEY_EVENT_BYTES,
  REQUEST_BYTES,
  WHOLE_PICTURE,
  isKeyDown,
} from "../wire.js";

// See screen-host.ts. The part of RFB that the bench uses: see wire.ts.
const [url] = (await once(process, "message")) as [string];
const { hostname, port } = new URL(url);

const server = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("data", (first: Buffer) => {
    if (first.toString("latin1", 0, 8) === "CONNECT ") serveScreen(socket);
    else passOn(socket, first);
  });
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}`);
});
process.on("disconnect", () => process.exit(0));

function passOn(socket: Socket, first: Buffer): void {
  const simulator = connect({ host: hostname, port: Number(port) });
  simulator.on("error", () => socket.destroy());
  socket.on("close", () => simulator.destroy());
  simulator.write(first);
  socket.pipe(simulator).pipe(socket);
}

function serveScreen(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n");
  let rest: Buffer = Buffer.alloc(0);
  let requested = 0;
  const send = () => {
    while (requested > 0 && !socket.writableNeedDrain) {
      requested--;
      socket.write(WHOLE_PICTURE);
    }
  };
  socket.on("drain", send);
  socket.on("data", (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const size = rest[0] === 4 ? KEY_EVENT_BYTES : REQUEST_BYTES;
      if (rest.length < size) break;
      if (size === REQUEST_BYTES) requested++;
      else if (isKeyDown(rest)) socket.write(KEY_ANSWER);
      rest = rest.subarray(size);
    }
    send();
  });
}
