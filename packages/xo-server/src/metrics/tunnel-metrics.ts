import type { Tunnels } from "../tunnels/tunnels.js";
import { byLabel, counter, type Metric } from "./exposition.js";

/** @param tunnels undefined: there are no other servers, and no metrics */
export function toTunnelMetrics(tunnels: Tunnels | undefined): Metric[] {
  if (tunnels === undefined) return [];
  const used = tunnels.client.figures;
  const served = tunnels.server.figures;
  return [
    byLabel(
      {
        name: "xo_tunnels",
        help: "Open connections to pools through another server (used), and of other servers through this one (served).",
        kind: "gauge",
      },
      "direction",
      { used: used.open, served: served.open },
    ),
    byLabel(
      {
        name: "xo_tunnels_opened_total",
        help: "Connections to pools through another server (used), and of other servers through this one (served).",
        kind: "counter",
      },
      "direction",
      { used: used.opened, served: served.opened },
    ),
    byLabel(
      {
        name: "xo_tunnel_failures_total",
        help: "Connections to pools that no other server could open (used), or that this one could not open for another one (served), and requests that were refused.",
        kind: "counter",
      },
      "reason",
      { used: used.failed, served: served.failed, refused: served.refused },
    ),
    counter(
      "xo_tunnel_bytes_total",
      "Bytes that this server has passed between other servers and pools.",
      served.bytes,
    ),
  ];
}
