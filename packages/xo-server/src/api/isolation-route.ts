import type { FastifyInstance } from "fastify";
import {
  ISOLATION_HEADER,
  ISOLATION_PATH,
} from "../isolation/isolation-messages.js";
import type { IsolationServer } from "../isolation/isolation-server.js";
import { bearerOf } from "./http/bearer.js";

/** Adds the route by which another server of the database asks whether this one reaches it. */
export function addIsolationRoute(
  app: FastifyInstance,
  isolation: Pick<IsolationServer, "answer">,
): void {
  app.get(
    ISOLATION_PATH,
    { exposeHeadRoute: false },
    async (request, reply) => {
      const answer = await isolation.answer(
        bearerOf(request.headers),
        request.clientAddress.address,
      );
      return reply
        .header("cache-control", "no-store")
        .header(ISOLATION_HEADER, answer)
        .send({});
    },
  );
}
