import type { WallClock } from "@xo-server/kit";
import { readConfigSecret } from "../auth/providers/read-secret.js";
import type { Config } from "../config/config.js";
import { version } from "../config/version.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Loggers } from "../log/logger.js";
import { SpanExporter, type ExportFigures } from "./span-exporter.js";
import { createTracer, type Tracer } from "./tracer.js";

export interface Telemetry {
  readonly tracer: Tracer;
  readonly readFigures: () => ExportFigures;
}

interface TelemetryOptions {
  readonly config: Pick<Config, "telemetry">;
  /** Name of this server. */
  readonly owner: string;
  readonly clock: WallClock;
  readonly loggers: Loggers;
}

/** @returns undefined: traces are disabled, which is the default */
export function startTelemetry(
  { config, owner, clock, loggers }: TelemetryOptions,
  stops: StopStack,
): Telemetry | undefined {
  const { telemetry } = config;
  if (telemetry.url === "") return undefined;
  const exporter = new SpanExporter({
    url: telemetry.url,
    readToken: () => readConfigSecret(telemetry, "token"),
    resource: {
      "service.name": "xo-server",
      "service.version": version,
      "service.instance.id": owner,
    },
    clock,
    logger: loggers.named("xo:telemetry"),
  });
  stops.push("traces", () => exporter.stop());
  return {
    tracer: createTracer({
      clock,
      sampling: telemetry.sampling,
      onEnd: (span) => {
        exporter.add(span);
      },
    }),
    readFigures: () => exporter.figures,
  };
}
