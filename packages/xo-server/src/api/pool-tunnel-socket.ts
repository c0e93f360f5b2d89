import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { XoError, errorTable } from "@xo-server/model";
import type { Logger } from "../log/logger.js";
import { internalError } from "../operations/known-error.js";
import {
  TUNNEL_HEADER,
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
} from "../tunnels/tunnel-messages.js";
import type { TunnelServer } from "../tunnels/tunnel-server.js";
import { bearerOf } from "./http/bearer.js";
import type { ClientAddresses } from "./http/client-address.js";
import { endWithResponse } from "./http/raw-response.js";

interface TunnelSocketOptions {
  readonly tunnels: Pick<TunnelServer, "open">;
  readonly clientAddresses: Pick<ClientAddresses, "resolve">;
  readonly logger: Pick<Logger, "error">;
}

/** The upgrade by which another server of the database gets a tunnel to a member of a pool. */
export class TunnelSocket {
  readonly #options: TunnelSocketOptions;

  constructor(options: TunnelSocketOptions) {
    this.#options = options;
  }

  /** @returns false: it is another path or protocol */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (request.url !== TUNNEL_PATH) return false;
    if (request.headers.upgrade !== TUNNEL_PROTOCOL) return false;
    void this.#open(request, socket, head);
    return true;
  }

  /** Never rejects. */
  async #open(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { tunnels, clientAddresses } = this.#options;
    try {
      const tunnel = await tunnels.open(
        bearerOf(request.headers),
        clientAddresses.resolve(request).address,
      );
      if (socket.destroyed) {
        tunnel.drop();
        return;
      }
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${TUNNEL_PROTOCOL}\r\n${TUNNEL_HEADER}: ${tunnel.answer}\r\n\r\n`,
      );
      tunnel.attach(socket, head);
    } catch (error) {
      const { status, body } = this.#toAnswer(error as Error);
      if (!socket.destroyed)
        endWithResponse(socket, status, JSON.stringify(body), {
          "content-type": "application/json; charset=utf-8",
        });
    }
  }

  #toAnswer(error: Error) {
    const { logger } = this.#options;
    const { code, message, data } =
      error instanceof XoError
        ? error
        : internalError(error, "failed to open a tunnel", logger);
    return { status: errorTable[code].http, body: { code, message, data } };
  }
}
