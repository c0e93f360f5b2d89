import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Xapi } from "../src/index.js";
import { clientOf, startPool } from "./client.js";
import { poolScript } from "./fake-xapi.js";
import { ownAddress } from "./loopback.js";

interface Handler {
  readonly port: number;
  readonly heads: string[];
  readonly bodies: string[];
  readonly sockets: Socket[];
}

/** HTTP handlers of a member: `reply` writes the answer after the head; bodies are collected until their length or the end of the connection. */
export async function startHandlers(
  t: { teardown(fn: () => Promise<void>): void },
  reply: (head: string, socket: Socket) => void,
  address = ownAddress(1),
  port = 0,
): Promise<Handler> {
  const heads: string[] = [];
  const bodies: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    let pending = "";
    let head: string | undefined;
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      pending += chunk.toString("latin1");
      const end = pending.indexOf("\r\n\r\n");
      if (head === undefined && end !== -1) {
        head = pending.slice(0, end);
        pending = pending.slice(end + 4);
        heads.push(head);
        reply(head, socket);
      }
      const length = /content-length: (\d+)/i.exec(head ?? "")?.[1];
      if (
        length !== undefined &&
        pending.length >= Number(length) &&
        !socket.writableEnded
      ) {
        bodies.push(pending);
        socket.end();
      }
    });
    socket.on("end", () => {
      if (!bodies.includes(pending)) bodies.push(pending);
      socket.end();
    });
  });
  server.listen(port, address);
  await once(server, "listening");
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  );
  return {
    port: (server.address() as AddressInfo).port,
    heads,
    bodies,
    sockets,
  };
}

/** A connected client: handlers are requested at address 1, calls go to address 0. */
export async function clientBeside(
  t: Parameters<typeof clientOf>[0],
  handlers: Handler,
  options: Parameters<typeof clientOf>[2] = {},
): Promise<Xapi> {
  const hosts = Object.fromEntries(
    [1, 2, 3].map((n) => [
      `OpaqueRef:h${n}`,
      { uuid: `h${n}`, address: ownAddress(n - 1), name_label: "" },
    ]),
  );
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "host.get_all_records" ? { value: hosts } : undefined,
    ),
    ownAddress(0),
    handlers.port,
  );
  const xapi = clientOf(t, pool, options);
  await xapi.connect();
  return xapi;
}

export const OK =
  "HTTP/1.1 200 OK\r\ntask-id: OpaqueRef:task\r\ncontent-type: application/octet-stream\r\nconnection: close\r\n\r\n";
