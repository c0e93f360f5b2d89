import { createParser, type Parser } from "./parser.js";
import type { ServerOptions } from "./server-options.js";
import type { StopStack } from "./stop-stack.js";

/** The parser pool. */
export function startParser(
  { config, loggers }: ServerOptions,
  stops: StopStack,
): Parser {
  const parser = createParser(config.parserPool, loggers.named("xo:parser"));
  stops.push("parser pool", () => parser.decoder.close());
  return parser;
}
