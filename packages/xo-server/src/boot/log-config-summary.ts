import type { StoredPool } from "../objects/snapshot-cache-options.js";
import type { ServerOptions } from "./server-options.js";

/** Logs the path of the config, its warnings, and pools of it that a demo leaves out. */
export function logConfigSummary({
  config,
  path,
  warnings,
  loggers,
  demo,
}: ServerOptions): void {
  const logger = loggers.named("xo:main");
  logger.info(
    path === undefined
      ? "No config file, using defaults"
      : `Config from ${path}`,
  );
  for (const warning of warnings) logger.warn(warning);
  if (isExposedInClear(config.http))
    logger.warn(
      `Plain HTTP on ${config.http.host}: passwords and tokens can be read on the network. Set http.tls, or http.host to 127.0.0.1 and use a reverse proxy with TLS`,
    );
  if (demo !== undefined && config.pools.length > 0)
    logger.info(
      `Demo mode: the ${config.pools.length} pools of the config are not connected`,
    );
}

/**
 * Logs how to add a pool if there is none to connect.
 * @param stored pool connections of the database
 */
export function logMissingPools(
  { config, loggers, demo }: Pick<ServerOptions, "config" | "loggers" | "demo">,
  stored: readonly StoredPool[],
): void {
  if (demo !== undefined) return;
  if ([...config.pools, ...stored].some((pool) => pool.enabled)) return;
  loggers
    .named("xo:main")
    .info(
      "No pools configured: add servers in the web page or under `pools` in config.yaml (`xo-server example-config` prints an example), or start with --demo",
    );
}

function isExposedInClear({
  host,
  tls,
  trustedProxies,
}: ServerOptions["config"]["http"]): boolean {
  const isLocal = host === "localhost" || host === "::1" || /^127\./.test(host);
  const hasTls = tls.selfSigned || tls.certificate !== "";
  return !isLocal && !hasTls && trustedProxies.length === 0;
}
