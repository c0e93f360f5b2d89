import type { WallClock } from "@xo-server/kit";
import type { RouteTable } from "../routing/route-table.js";

/** Routes without authentication. */
export function addPublicRoutes(
  routes: RouteTable,
  clock: Pick<WallClock, "now">,
): void {
  routes.get("/ping", async () => ({ result: "pong", timestamp: clock.now() }));
  // Checked by MCP servers at start. Assistants have the rights of the user they sign in as.
  routes.get("/mcp/status", async () => ({ enabled: true }));
  // Xen Orchestra has two user interfaces; here both are the same.
  routes.get("/gui-routes", async () => ({ xo5: "/", xo6: "/" }));
}
