import { existsSync } from "node:fs";
import { silentLogger } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { isPostgres, type Store } from "@xo-server/store";
import { toStoreOptions } from "../boot/start-store.js";
import type { Config } from "../config/config.js";
import { loadConfig, type ConfigOverrides } from "../config/load-config.js";
import { readMaxOpenFiles } from "../limits/open-files.js";
import { answerLimits } from "../parser/answer-limits.js";
import { createParser } from "../parser/parser.js";
import {
  toPoolSettings,
  toStoredSettings,
  type PoolSettings,
} from "../pools/pool-settings.js";
import { checkCertificate } from "./check-certificate.js";
import { checkDataFolder, checkSpace } from "./check-data-folder.js";
import { checkPool } from "./check-pool.js";
import { checkPorts } from "./check-ports.js";
import { checkServices } from "./check-services.js";
import { checkStore } from "./check-store.js";
import {
  checkMemory,
  checkNode,
  checkOpenFiles,
  checkPage,
} from "./check-system.js";
import {
  failed,
  ok,
  skipped,
  warning,
  type Finding,
  type Result,
} from "./finding.js";

interface DoctorOptions {
  readonly configPath: string | undefined;
  readonly overrides: ConfigOverrides;
  /** Whether to connect to the pools. */
  readonly checksPools: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Checks the installation; nothing is changed. */
export async function runDoctor(options: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  const add = (check: string, ...results: readonly Result[]) => {
    for (const result of results) findings.push({ check, ...result });
  };
  add("node", checkNode(process.version));
  add("page", checkPage());
  add("memory", checkMemory());
  const config = readConfig(options, add);
  if (config === undefined) return findings;
  await checkConfigured(config, options, add);
  return findings;
}

type Add = (check: string, ...results: readonly Result[]) => void;

function readConfig(
  { configPath, overrides }: DoctorOptions,
  add: Add,
): Config | undefined {
  try {
    const { config, path, warnings } = loadConfig(configPath, overrides);
    add(
      "config",
      ok(path === undefined ? "no file, all defaults" : path),
      ...warnings.map((text) => warning(text, "see the message")),
    );
    return config;
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
    const problems = (error.data["problems"] as string[] | undefined) ?? [
      error.message,
    ];
    const remedy =
      "correct the file; xo-server example-config prints every key";
    add("config", ...problems.map((text) => failed(text, remedy)));
    return undefined;
  }
}

async function checkConfigured(
  config: Config,
  options: DoctorOptions,
  add: Add,
): Promise<void> {
  const { dataDir, http } = config;
  const { now = Date.now } = options;
  add("open files", checkOpenFiles(http.maxConnections, readMaxOpenFiles()));
  add("data", ...(await checkDataFolder(dataDir)));
  add("space", ...(await checkSpace(dataDir)));
  const { location } = toStoreOptions(config);
  const isStarted = isPostgres(location) || existsSync(location);
  add("port", ...(await checkPorts(http, isStarted)));
  add("certificate", await checkCertificate(config, now()));
  const { results, store } = await checkStore(config);
  add("store", ...results);
  try {
    add("services", ...(await checkServices(config, store)));
    const pools = [...toPoolSettings(config.pools), ...storedPools(store, add)];
    if (pools.length === 0) add("pools", skipped("no pools are configured"));
    else if (!options.checksPools) add("pools", skipped("--no-pools"));
    else await checkPools(pools, config, { add, now });
  } finally {
    await store?.close();
  }
}

function storedPools(store: Store | undefined, add: Add): PoolSettings[] {
  if (store === undefined) return [];
  return [...store.servers.list()].flatMap((server) => {
    if (!server.enabled) return [];
    try {
      return [toStoredSettings(server, store.servers.credentials(server.id))];
    } catch (error) {
      add(
        `pool ${server.label || server.host}`,
        failed(
          (error as Error).message,
          "enter its password again in the web page",
        ),
      );
      return [];
    }
  });
}

async function checkPools(
  pools: readonly PoolSettings[],
  config: Config,
  { add, now }: { readonly add: Add; readonly now: () => number },
): Promise<void> {
  const { maxBodyBytes } = answerLimits(config.parserPool.maxBodyBytes);
  const { decoder } = createParser(
    { ...config.parserPool, maxBodyBytes, place: "main" },
    silentLogger,
  );
  try {
    const results = await Promise.all(
      pools.map((pool) => checkPool(pool, { config, decoder, now })),
    );
    for (const [index, pool] of pools.entries())
      add(`pool ${pool.label}`, ...results[index]!);
  } finally {
    await decoder.close();
  }
}
