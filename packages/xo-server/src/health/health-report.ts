import { diskChecks } from "./disk-checks.js";
import type { HealthCheck } from "./health-check.js";
import type { HealthFindings } from "./health-findings.js";
import type { HealthReader } from "./health-reader.js";
import { hostChecks } from "./host-checks.js";
import { storageChecks } from "./storage-checks.js";
import { vmChecks } from "./vm-checks.js";

interface HealthResult
  extends HealthFindings, Pick<HealthCheck, "name" | "severity" | "type"> {}

interface HealthReport {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly checks: readonly HealthResult[];
}

/** The checks, in the order of the report. */
const healthChecks: readonly HealthCheck[] = [
  ...storageChecks,
  ...diskChecks,
  ...vmChecks,
  ...hostChecks,
];

/** Runs all checks one after the other. */
export async function createHealthReport(
  reader: HealthReader,
): Promise<HealthReport> {
  const checks: HealthResult[] = [];
  for (const { name, severity, type, find } of healthChecks) {
    const found = await find(reader);
    checks.push({ name, severity, type, ...found });
  }
  return { time: reader.now, checks };
}
