import type { Clock } from "../../../clock.js";
import type { RouteTable } from "../routing/route-table.js";

/** What answers without a sign-in. */
export function addPublicRoutes(
  routes: RouteTable,
  clock: Pick<Clock, "now">,
): void {
  routes.get("/ping", async () => ({ result: "pong", timestamp: clock.now() }));
  // Assistants ask whether they are welcome: they may do what the user may whom they sign in as.
  routes.get("/mcp/status", async () => ({ enabled: true }));
  // One page, whichever it is asked for as.
  routes.get("/gui-routes", async () => ({ xo5: "/", xo6: "/" }));
}
