import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "../log/logger.js";

/** Addresses and fingerprints of a pool, persisted for the next start. No secrets. */
interface PoolEndpoints {
  /** Addresses of all members, as URLs: one of them may become coordinator. */
  readonly hosts: readonly string[];
  /** SHA-256 fingerprints of certificates trusted on first use, by `host:port`. */
  readonly fingerprints: Readonly<Record<string, string>>;
}

export interface PoolEndpointsFile {
  readonly endpoints: PoolEndpoints;
  /** Writes in the background; a write that fails is logged. */
  update(changes: Partial<PoolEndpoints>): void;
  /** Resolves when all endpoints are on disk. */
  settled(): Promise<void>;
}

const EMPTY: PoolEndpoints = { hosts: [], fingerprints: {} };

/** Endpoints in `<dataDir>/pools/<id>.json`. An unreadable file counts as empty. */
export async function openPoolEndpoints(
  dataDir: string,
  id: string,
  logger: Logger,
): Promise<PoolEndpointsFile> {
  const path = join(dataDir, "pools", `${id}.json`);
  let endpoints = await read(path, logger);
  let writing = Promise.resolve();
  return {
    get endpoints() {
      return endpoints;
    },
    update(changes) {
      endpoints = { ...endpoints, ...changes };
      const text = `${JSON.stringify(endpoints, null, 2)}\n`;
      writing = writing.then(() => write(path, text, logger));
    },
    settled: () => writing,
  };
}

/** Deletes the endpoints of a removed connection. @throws Error of the file system */
export async function deletePoolEndpoints(
  dataDir: string,
  id: string,
): Promise<void> {
  await rm(join(dataDir, "pools", `${id}.json`), { force: true });
}

/** Creates endpoints in memory only, for pools of a demo. */
export function createVolatilePoolEndpoints(): PoolEndpointsFile {
  let endpoints = EMPTY;
  return {
    get endpoints() {
      return endpoints;
    },
    update(changes) {
      endpoints = { ...endpoints, ...changes };
    },
    settled: () => Promise.resolve(),
  };
}

async function read(path: string, logger: Logger): Promise<PoolEndpoints> {
  try {
    const found = JSON.parse(await readFile(path, "utf8")) as unknown;
    if (isPoolEndpoints(found)) return found;
    logger.warn(`${path} has unexpected content and is ignored`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      logger.warn(`${path} cannot be read and is ignored`, { error });
  }
  return EMPTY;
}

function isPoolEndpoints(value: unknown): value is PoolEndpoints {
  if (typeof value !== "object" || value === null) return false;
  const { hosts, fingerprints } = value as Partial<PoolEndpoints>;
  return (
    Array.isArray(hosts) &&
    hosts.every((host) => typeof host === "string") &&
    typeof fingerprints === "object" &&
    fingerprints !== null &&
    Object.values(fingerprints).every((one) => typeof one === "string")
  );
}

/** Atomic: after a power failure the file is the old or the new one. */
async function write(
  path: string,
  text: string,
  logger: Logger,
): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
  } catch (error) {
    logger.warn(`${path} cannot be written`, { error });
  }
}
