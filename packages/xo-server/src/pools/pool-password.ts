import { readFile } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import type { Config } from "../config/config.js";

type PoolConfig = Config["pools"][number];

/**
 * The password of a pool, from the source that its config names. Read when the pool
 * is started, so that a missing secret only affects this pool.
 * @throws XoError CONFIG_INVALID
 */
export async function readPassword(
  pool: Pick<PoolConfig, "password" | "passwordFile" | "passwordEnv">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  if (pool.password !== undefined) return pool.password;
  if (pool.passwordFile !== undefined) return readFirstLine(pool.passwordFile);
  const name = pool.passwordEnv ?? "";
  const password = env[name];
  if (password !== undefined && password !== "") return password;
  throw new XoError("CONFIG_INVALID", {
    where: "passwordEnv",
    reason: `$${name} is not set`,
  });
}

async function readFirstLine(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new XoError(
      "CONFIG_INVALID",
      { where: "passwordFile", reason: `${path} cannot be read (${code})` },
      error,
    );
  }
  const [line = ""] = text.split(/\r?\n/);
  if (line !== "") return line;
  throw new XoError("CONFIG_INVALID", {
    where: "passwordFile",
    reason: `${path} is empty`,
  });
}
