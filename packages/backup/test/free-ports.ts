import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** TCP ports of 127.0.0.1 that no program uses now, for one that cannot choose its own. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () =>
    createServer().listen(0, "127.0.0.1"),
  );
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}
