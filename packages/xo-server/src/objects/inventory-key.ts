import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Logger } from "../log/logger.js";

/** The environment variable that contains the key. */
const KEY_VARIABLE = "XO_INVENTORY_KEY";

const KEY_TEXT = /^[0-9a-f]{64}$/i;

interface InventoryKeyOptions {
  /** Path of the key file; it is created with a new key if it does not exist. */
  readonly path: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

/**
 * The key that the snapshot cache is encrypted with: 32 bytes, written as 64
 * hexadecimal digits.
 * @returns undefined: there is no key; the reason is logged
 */
export async function readInventoryKey({
  path,
  env = process.env,
  logger,
}: InventoryKeyOptions): Promise<Uint8Array | undefined> {
  const input = env[KEY_VARIABLE];
  if (input !== undefined && input !== "")
    return toKey(input, `$${KEY_VARIABLE}`, logger);
  try {
    const text = (await read(path)) ?? (await make(path));
    await warnIfOpen(path, logger);
    return toKey(text, path, logger);
  } catch (error) {
    const { message } = error as Error;
    logger.warn(`${path}: no key, pools are not persisted: ${message}`);
    return undefined;
  }
}

function toKey(
  text: string,
  where: string,
  logger: Logger,
): Uint8Array | undefined {
  if (KEY_TEXT.test(text.trim())) return Buffer.from(text.trim(), "hex");
  logger.warn(`${where} is not 64 hexadecimal digits: pools are not persisted`);
  return undefined;
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Creates the file atomically. Of two concurrent creators, the later one uses the
 * key of the other.
 */
async function make(path: string): Promise<string> {
  const text = randomBytes(32).toString("hex");
  const draft = `${path}.${randomBytes(4).toString("hex")}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
    await link(draft, path);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return await readFile(path, "utf8");
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

async function warnIfOpen(path: string, logger: Logger): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0 && process.platform !== "win32")
    logger.warn(`${path} can be read by other users: chmod 600 ${path}`);
}
