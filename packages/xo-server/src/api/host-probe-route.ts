import type { FastifyInstance } from "fastify";
import { PROBE_PATH } from "../probes/probe-messages.js";
import type { ProbeServer } from "../probes/probe-server.js";
import { bearerOf } from "./http/bearer.js";

/** Adds the route by which a server requests from another one a probe of a host that it cannot reach. */
export function addHostProbeRoute(
  app: FastifyInstance,
  probes: Pick<ProbeServer, "answer">,
): void {
  app.get(PROBE_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const answer = await probes.answer(
      bearerOf(request.headers),
      request.clientAddress.address,
    );
    return reply
      .header("cache-control", "no-store")
      .type("text/plain")
      .send(answer);
  });
}
