import type { LimitHits } from "../limits/limit-hits.js";
import { byLabel, gauge, type Metric } from "./exposition.js";

/** @param tls undefined: plain HTTP */
export function toApiMetrics(
  hits: LimitHits,
  tls: { readonly expiresAt: number } | undefined,
): Metric[] {
  const limitHits = byLabel(
    {
      name: "xo_http_limit_hits_total",
      help: "Requests and messages rejected or delayed by a limit, by limit.",
      kind: "counter",
    },
    "limit",
    hits.read(),
  );
  if (tls === undefined) return [limitHits];
  const expiry = gauge(
    "xo_tls_certificate_expiry_timestamp_seconds",
    "Expiry of the TLS certificate, in seconds since the epoch.",
    tls.expiresAt / 1000,
  );
  return [limitHits, expiry];
}
