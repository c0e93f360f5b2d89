import type { ConsoleFigures } from "../consoles/consoles.js";
import { byLabel, counter, gauge, type Metric } from "./exposition.js";

/** Screens and terminals that people have open. */
export function toConsoleMetrics(figures: ConsoleFigures): Metric[] {
  const { open, opened, refused, bytesToClients, bytesFromClients } = figures;
  return [
    gauge("xo_consoles", "Consoles that are open.", open),
    counter("xo_consoles_opened_total", "Consoles opened.", opened),
    counter("xo_consoles_refused_total", "Consoles not opened.", refused),
    byLabel(
      {
        name: "xo_console_bytes_total",
        help: "Bytes of consoles, from and to their clients.",
        kind: "counter",
      },
      "direction",
      { from: bytesFromClients, to: bytesToClients },
    ),
  ];
}
