import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { CliError, fileError } from "../cli-error.js";
import { toServerUrl } from "../server/server-url.js";
import type { Trust } from "../server/trust.js";

/** A server that somebody has registered with. */
export interface SavedServer extends Trust {
  readonly token: string;
  readonly user?: string;
}

/** What is remembered between calls. */
export interface SavedServers {
  /** Tells the server that tokens of this machine belong together. */
  readonly clientId?: string;
  readonly defaultUrl?: string;
  readonly servers: ReadonlyMap<string, SavedServer>;
}

/**
 * The file. `server`, `token` and `allowUnauthorized` at the top are those of the
 * default server, as the xo-cli of Xen Orchestra writes and reads them: both use the same file.
 */
interface ConfigFile {
  clientId?: string;
  server?: string;
  token?: string;
  allowUnauthorized?: boolean;
  servers?: Record<string, SavedServer>;
}

export function configPath(
  env: Readonly<Record<string, string | undefined>>,
): string {
  const xdg = env["XDG_CONFIG_HOME"] ?? "";
  const home = env["HOME"] ?? homedir();
  return join(
    isAbsolute(xdg) ? xdg : join(home, ".config"),
    "xo-cli",
    "config.json",
  );
}

/** None is no error. @throws CliError */
export function readServers(path: string): SavedServers {
  const { clientId, server, token, allowUnauthorized, servers } =
    readConfig(path);
  const all = new Map(Object.entries(servers ?? {}));
  const defaultUrl = server === undefined ? undefined : toServerUrl(server);
  if (defaultUrl !== undefined && typeof token === "string")
    all.set(defaultUrl, {
      ...all.get(defaultUrl),
      token,
      ...(allowUnauthorized === true ? { allowUnauthorized } : {}),
    });
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(defaultUrl === undefined ? {} : { defaultUrl }),
    servers: all,
  };
}

/** Whole or not at all, readable by nobody else. What others wrote into the file stays. */
export function writeServers(path: string, saved: SavedServers): void {
  const { clientId, defaultUrl, servers } = saved;
  const file = readConfig(path);
  const first = defaultUrl === undefined ? undefined : servers.get(defaultUrl);
  const news: ConfigFile = { ...file, servers: Object.fromEntries(servers) };
  delete news.server;
  delete news.token;
  delete news.allowUnauthorized;
  if (clientId !== undefined) news.clientId = clientId;
  if (defaultUrl !== undefined && first !== undefined) {
    news.server = defaultUrl;
    news.token = first.token;
    if (first.allowUnauthorized === true) news.allowUnauthorized = true;
  }
  const draft = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(news, undefined, 2)}\n`, {
      mode: 0o600,
      flag: "wx",
    });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw fileError(path, error);
  }
}

/** Takes it from all others. @returns whether they could read it */
export function closeToOthers(path: string): boolean {
  try {
    if ((statSync(path).mode & 0o077) === 0) return false;
    chmodSync(path, 0o600);
    return true;
  } catch {
    return false; // it is not there, or not ours
  }
}

function readConfig(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw fileError(path, error);
  }
  try {
    const file: unknown = JSON.parse(text);
    if (typeof file === "object" && file !== null) return file;
  } catch {
    // told below; the parser's own message would quote the file
  }
  throw new CliError(`${path}: this is no JSON object`, {
    code: "FILE",
    exitCode: 5,
    hint: "remove the file and register again",
  });
}
