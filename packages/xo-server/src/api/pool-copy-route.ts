import type { FastifyInstance } from "fastify";
import { COPY_HEADER, COPY_PATH } from "../pool-copies/copy-messages.js";
import type { CopyServer } from "../pool-copies/copy-server.js";
import { bearerOf } from "./http/bearer.js";

/** Adds the route by which another server of the database gets the snapshot of a pool. */
export function addPoolCopyRoute(
  app: FastifyInstance,
  copies: Pick<CopyServer, "open">,
): void {
  app.get(COPY_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const { answer, bytes, body } = await copies.open(
      bearerOf(request.headers),
      request.clientAddress.address,
    );
    return reply
      .type("application/octet-stream")
      .header("cache-control", "no-store")
      .header("content-length", bytes)
      .header(COPY_HEADER, answer)
      .send(body);
  });
}
