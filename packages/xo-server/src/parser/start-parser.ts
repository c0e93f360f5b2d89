import { answerLimits } from "./answer-limits.js";
import { createParser, type Parser } from "./parser.js";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

/** The parser pool. */
export function startParser(
  { config, loggers }: StartOptions,
  stops: StopStack,
): Parser {
  const { maxBodyBytes } = answerLimits(config.parserPool.maxBodyBytes);
  const parser = createParser(
    { ...config.parserPool, maxBodyBytes },
    loggers.named("xo:parser"),
  );
  stops.push("parser pool", () => parser.decoder.close());
  return parser;
}
