import { createServer, type AddressInfo } from "node:net";

// A process that accepts and discards all data, on a port that it prints; it ends with its parent.
const server = createServer((socket) => {
  socket.on("error", () => undefined);
  socket.resume();
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
