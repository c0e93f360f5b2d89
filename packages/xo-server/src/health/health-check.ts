import type { HealthFindings } from "./health-findings.js";
import type { HealthReader } from "./health-reader.js";

/** Searches for one kind of problem. */
export interface HealthCheck {
  readonly name: string;
  /**
   * `error`: VMs or their data are at risk. `warning`: they will be. `info`:
   * resources are wasted.
   */
  readonly severity: "error" | "warning" | "info";
  /** Type of the objects. */
  readonly type: string;
  readonly find: (reader: HealthReader) => Promise<HealthFindings>;
}
