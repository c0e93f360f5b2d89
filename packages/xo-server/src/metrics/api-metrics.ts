import type { LimitHits } from "../limits/limit-hits.js";
import type { Tls } from "../api/tls/start-tls.js";
import { byLabel, gauge, type Metric } from "./exposition.js";

/** @param tls undefined: plain HTTP */
export function toDoorMetrics(
  hits: LimitHits,
  tls: Pick<Tls, "expiresAt"> | undefined,
): Metric[] {
  const refused = byLabel(
    {
      name: "xo_http_limit_hits_total",
      help: "How often a limit of the doors was hit.",
      kind: "counter",
    },
    "limit",
    hits.read(),
  );
  if (tls === undefined) return [refused];
  const end = gauge(
    "xo_tls_certificate_end_timestamp_seconds",
    "When the certificate ends, since the epoch.",
    tls.expiresAt / 1000,
  );
  return [refused, end];
}
