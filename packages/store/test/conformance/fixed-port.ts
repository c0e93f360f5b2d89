import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

const HOST = "127.0.0.1";
/** Ports that systems give to no socket by themselves: Linux gives those from 32768 on. */
const FIRST = 20_000;
const END = 32_000;
/** Ports on which a program is tried to be started. */
const TRIES = 5;

/** A TCP port of 127.0.0.1 that no program uses now, and which no socket gets that asks for any port. */
export async function fixedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    const server = createServer().listen(port, HOST);
    try {
      await once(server, "listening");
    } catch {
      // Another program uses it.
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

/**
 * Starts a program that cannot choose its port. It may end because another program has taken the port
 * meanwhile: then it is started on another one.
 * @param start rejects if the program ends
 */
export async function onFixedPorts<const N extends number>(
  count: N,
  start: (ports: readonly number[] & { readonly length: N }) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const ports: number[] = [];
    while (ports.length < count) {
      const port = await fixedPort();
      if (!ports.includes(port)) ports.push(port);
    }
    try {
      return await start(ports as never);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}
