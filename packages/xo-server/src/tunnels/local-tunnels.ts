import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FramedStream } from "@xo-server/backup";
import type { IndirectConnection } from "@xo-server/xen-api";
import type { Logger } from "../log/logger.js";
import { Tunnel } from "./tunnel.js";

/** A member of a pool. */
interface TunnelTarget {
  readonly poolId: string;
  /** URL; that of an NBD server ends with a disk, by which the other server asks XAPI for its address. */
  readonly member: string;
}

interface LocalTunnelsOptions {
  /** Opens a tunnel through another server. @throws Error */
  readonly connect: (
    target: TunnelTarget,
    signal: AbortSignal,
  ) => Promise<IndirectConnection>;
  readonly logger: Pick<Logger, "debug">;
}

/**
 * Unix sockets by which processes of this server, such as workers of backups, reach members of pools through
 * another server: each connection is passed on through a tunnel. Their folder can be read by the user
 * of the server only.
 */
export class LocalTunnels {
  readonly #options: LocalTunnelsOptions;
  /** By pool and member. */
  readonly #paths = new Map<string, Promise<string>>();
  /** The last one of each path: a disk of before may have been deleted. */
  readonly #targets = new Map<string, TunnelTarget>();
  readonly #servers = new Set<Server>();
  readonly #clients = new Set<Socket>();
  #folder: Promise<string> | undefined;
  #isStopped = false;

  constructor(options: LocalTunnelsOptions) {
    this.#options = options;
  }

  /** @returns path of the socket; it exists until the server stops. @throws Error it cannot be created */
  pathTo(target: TunnelTarget): Promise<string> {
    const key = JSON.stringify([target.poolId, withoutDisk(target.member)]);
    this.#targets.set(key, target);
    let path = this.#paths.get(key);
    if (path === undefined) {
      path = this.#listen(key, String(this.#paths.size));
      this.#paths.set(key, path);
      // The caller gets the error, and the next one tries again.
      path.catch(() => this.#paths.delete(key));
    }
    return path;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const server of this.#servers) server.close();
    for (const client of this.#clients) client.destroy();
    // Without a folder there is nothing to delete.
    const folder = await this.#folder?.catch(() => undefined);
    if (folder !== undefined)
      await rm(folder, { recursive: true, force: true });
  }

  async #listen(key: string, name: string): Promise<string> {
    const path = join(await this.#openFolder(), name);
    const options = { allowHalfOpen: true, pauseOnConnect: true };
    const server = createServer(options, (client) => {
      void this.#pass(this.#targets.get(key)!, client);
    });
    this.#servers.add(server);
    server.listen(path);
    await once(server, "listening");
    if (this.#isStopped) server.close();
    return path;
  }

  /** Not in the data folder: paths of sockets have at most 107 bytes. */
  #openFolder(): Promise<string> {
    if (this.#folder === undefined) {
      this.#folder = mkdtemp(join(tmpdir(), "xo-tunnels-"));
      // The caller gets the error, and the next one tries again.
      this.#folder.catch(() => (this.#folder = undefined));
    }
    return this.#folder;
  }

  /** Never rejects. */
  async #pass(target: TunnelTarget, client: Socket): Promise<void> {
    const closed = new AbortController();
    this.#clients.add(client);
    // Followed by `close`.
    client.on("error", () => undefined);
    client.once("close", () => {
      this.#clients.delete(client);
      closed.abort();
    });
    try {
      const { socket } = await this.#options.connect(target, closed.signal);
      new Tunnel(socket, new FramedStream(client));
    } catch (error) {
      // The process gets no reason: it reports a connection that was closed.
      this.#options.logger.debug(
        `no tunnel to ${target.member} for another process: ${(error as Error).message}`,
      );
      client.destroy();
    }
  }
}

/** `nbd://192.0.2.1:10809` of `nbd://192.0.2.1:10809/OpaqueRef:...`. */
function withoutDisk(member: string): string {
  return member.replace(/^(nbd:\/\/[^/]+)\/.*/, "$1");
}
