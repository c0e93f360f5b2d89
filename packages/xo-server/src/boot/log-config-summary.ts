import type { ServerOptions } from "./server-options.js";

/** The first lines of the log. */
export function logConfigSummary({
  config,
  path,
  warnings,
  loggers,
  demo,
}: ServerOptions): void {
  const logger = loggers.named("xo:main");
  logger.info(path === undefined ? "No config file" : `Config from ${path}`);
  for (const warning of warnings) logger.warn(warning);
  if (demo !== undefined) {
    if (config.pools.length > 0)
      logger.info(
        `Demo: the ${config.pools.length} pools of the config are not connected`,
      );
  } else if (!config.pools.some((pool) => pool.enabled)) {
    logger.info(
      "No pools yet: name some under `pools` in config.yaml (`xo-server example-config` prints one), or try --demo",
    );
  }
}
