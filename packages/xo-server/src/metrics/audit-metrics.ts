import type { ForwardStatus } from "../audit-forwarding/forward-status.js";
import type { Metric } from "./exposition.js";

/** Metrics of audit log forwarding, by the name of the target in the configuration. */
export function toAuditMetrics(targets: readonly ForwardStatus[]): Metric[] {
  const metric = (
    { name, help, kind }: Omit<Metric, "samples">,
    read: (status: ForwardStatus) => number,
  ): Metric => ({
    name: `xo_audit_forward_${name}`,
    help,
    kind,
    samples: targets.map((status) => ({
      value: read(status),
      labels: { target: status.name },
    })),
  });
  return [
    metric(
      {
        name: "pending",
        help: "Entries of the audit log that were not forwarded.",
        kind: "gauge",
      },
      ({ pending }) => pending,
    ),
    metric(
      {
        name: "lag_seconds",
        help: "Age of the oldest entry that was not forwarded; 0: none.",
        kind: "gauge",
      },
      ({ lagMs }) => lagMs / 1000,
    ),
    metric(
      {
        name: "entries_total",
        help: "Forwarded entries of the audit log.",
        kind: "counter",
      },
      ({ sent }) => sent,
    ),
    metric(
      {
        name: "failures_total",
        help: "Failed attempts to forward entries.",
        kind: "counter",
      },
      ({ failures }) => failures,
    ),
  ];
}
