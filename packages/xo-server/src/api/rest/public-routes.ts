import type { FastifyInstance } from "fastify";
import type { Clock } from "../../clock.js";

/** What answers without a sign-in. */
export function addPublicRoutes(
  door: FastifyInstance,
  clock: Pick<Clock, "now">,
): void {
  door.get("/ping", async () => ({ result: "pong", timestamp: clock.now() }));
  // Assistants ask whether they are welcome: they may do what the user may whom they sign in as.
  door.get("/mcp/status", async () => ({ enabled: true }));
  // One page, whichever it is asked for as.
  door.get("/gui-routes", async () => ({ xo5: "/", xo6: "/" }));
}
