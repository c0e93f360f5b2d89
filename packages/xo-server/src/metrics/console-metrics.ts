import type { ConsoleFigures } from "../consoles/consoles.js";
import { byLabel, counter, gauge, type Metric } from "./exposition.js";

/** Number of consoles, and bytes transferred. */
export function toConsoleMetrics(figures: ConsoleFigures): Metric[] {
  const { open, opened, refused, bytesToClients, bytesFromClients } = figures;
  return [
    gauge("xo_consoles", "Open consoles.", open),
    counter("xo_consoles_opened_total", "Consoles opened.", opened),
    counter("xo_consoles_refused_total", "Rejected console requests.", refused),
    byLabel(
      {
        name: "xo_console_bytes_total",
        help: "Console data by direction, from or to clients, in bytes.",
        kind: "counter",
      },
      "direction",
      { from: bytesFromClients, to: bytesToClients },
    ),
  ];
}
