import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

/**
 * Connections to a process of its own that reads all data and discards it; it ends with this one.
 */
export async function openSinkSockets(count: number): Promise<Socket[]> {
  const program = fileURLToPath(new URL("socket-sink.js", import.meta.url));
  const child = spawn(process.execPath, [program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    sockets.push(socket);
  }
  return sockets;
}
