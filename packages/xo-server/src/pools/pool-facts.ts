import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "../log/logger.js";

/** Facts about a pool that are persisted for the next start. No secrets. */
export interface PoolFacts {
  /** Addresses of all members, as URLs: one of them may become coordinator. */
  readonly hosts: readonly string[];
  /** SHA-256 fingerprints of certificates trusted on first use, by `host:port`. */
  readonly fingerprints: Readonly<Record<string, string>>;
}

export interface PoolFactsFile {
  readonly facts: PoolFacts;
  /** Writes in the background; a write that fails is logged. */
  update(news: Partial<PoolFacts>): void;
  /** Resolves when all facts are on disk. */
  settled(): Promise<void>;
}

const NOTHING: PoolFacts = { hosts: [], fingerprints: {} };

/** Facts in `<dataDir>/pools/<id>.json`. An unreadable file counts as empty. */
export async function openPoolFacts(
  dataDir: string,
  id: string,
  logger: Logger,
): Promise<PoolFactsFile> {
  const path = join(dataDir, "pools", `${id}.json`);
  let facts = await read(path, logger);
  let writing = Promise.resolve();
  return {
    get facts() {
      return facts;
    },
    update(news) {
      facts = { ...facts, ...news };
      const text = `${JSON.stringify(facts, null, 2)}\n`;
      writing = writing.then(() => write(path, text, logger));
    },
    settled: () => writing,
  };
}

/** Deletes the facts of a removed connection. @throws Error of the file system */
export async function deletePoolFacts(
  dataDir: string,
  id: string,
): Promise<void> {
  await rm(join(dataDir, "pools", `${id}.json`), { force: true });
}

/** Creates facts in memory only, for pools of a demo. */
export function createVolatilePoolFacts(): PoolFactsFile {
  let facts = NOTHING;
  return {
    get facts() {
      return facts;
    },
    update(news) {
      facts = { ...facts, ...news };
    },
    settled: () => Promise.resolve(),
  };
}

async function read(path: string, logger: Logger): Promise<PoolFacts> {
  try {
    const found = JSON.parse(await readFile(path, "utf8")) as unknown;
    if (isPoolFacts(found)) return found;
    logger.warn(`${path} has unexpected content and is ignored`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      logger.warn(`${path} cannot be read and is ignored`, { error });
  }
  return NOTHING;
}

function isPoolFacts(value: unknown): value is PoolFacts {
  if (typeof value !== "object" || value === null) return false;
  const { hosts, fingerprints } = value as Partial<PoolFacts>;
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
