import { Type } from "typebox";
import { section } from "./config-parts.js";
import { secret } from "./secret-config.js";

export const TelemetryConfig = section(
  "OpenTelemetry traces of operations and their XAPI calls.",
  {
    url: Type.String({
      default: "",
      maxLength: 2048,
      description:
        "Collector, OTLP over HTTP with JSON: http://localhost:4318/v1/traces. Empty: no traces.",
    }),
    ...secret("token", "With https: bearer token"),
    sampling: Type.Number({
      default: 1,
      minimum: 0,
      maximum: 1,
      description:
        "Share of the traces that are recorded, from 0 to 1. A request whose traceparent is not sampled is never recorded.",
    }),
  },
);
