import type { HealthFindings } from "./health-findings.js";
import type { HealthReader } from "./health-reader.js";

/** Looks for one kind of problem. */
export interface HealthCheck {
  readonly name: string;
  /** How urgent: `error` endangers VMs or their data, `warning` will, `info` wastes resources. */
  readonly severity: "error" | "warning" | "info";
  /** Type of the objects. */
  readonly type: string;
  readonly find: (reader: HealthReader) => Promise<HealthFindings>;
}
