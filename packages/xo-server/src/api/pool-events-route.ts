import type { FastifyInstance } from "fastify";
import { EVENTS_HEADER, EVENTS_PATH } from "../event-relay/relay-messages.js";
import type { RelayServer } from "../event-relay/relay-server.js";
import { bearerOf } from "./http/bearer.js";

/** Adds the route by which another server of the database gets the events of a pool. */
export function addPoolEventsRoute(
  app: FastifyInstance,
  events: Pick<RelayServer, "open">,
): void {
  app.get(EVENTS_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const { answer, body } = await events.open(
      bearerOf(request.headers),
      request.clientAddress.address,
    );
    return reply
      .type("application/octet-stream")
      .header("cache-control", "no-store")
      .header(EVENTS_HEADER, answer)
      .send(body);
  });
}
