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

/** A registered server. */
export interface SavedServer extends Trust {
  readonly token: string;
  readonly user?: string;
}

/** Content of the config file. */
export interface SavedServers {
  /** Client id of the tokens of this machine. */
  readonly clientId?: string;
  readonly defaultUrl?: string;
  readonly servers: ReadonlyMap<string, SavedServer>;
}

/**
 * The file is shared with Xen Orchestra's xo-cli, which uses `server`, `token` and
 * `allowUnauthorized` at the top level for its only server: here the default one.
 */
interface ConfigFile {
  clientId?: string;
  server?: string;
  token?: string;
  allowUnauthorized?: boolean;
  servers?: Record<string, SavedServer>;
}

/**
 * `$XDG_CONFIG_HOME/xo-cli/config.json`; relative values of the variable are ignored, as the XDG
 * specification demands.
 */
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

/** A missing file is empty. @throws CliError */
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

/**
 * Writes atomically, readable by the owner only. Unknown keys are preserved.
 */
export function writeServers(path: string, saved: SavedServers): void {
  const { clientId, defaultUrl, servers } = saved;
  const file = readConfig(path);
  const first = defaultUrl === undefined ? undefined : servers.get(defaultUrl);
  const content: ConfigFile = { ...file, servers: Object.fromEntries(servers) };
  delete content.server;
  delete content.token;
  delete content.allowUnauthorized;
  if (clientId !== undefined) content.clientId = clientId;
  if (defaultUrl !== undefined && first !== undefined) {
    content.server = defaultUrl;
    content.token = first.token;
    if (first.allowUnauthorized === true) content.allowUnauthorized = true;
  }
  const draft = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(content, undefined, 2)}\n`, {
      mode: 0o600,
      flag: "wx",
    });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw fileError(path, error);
  }
}

/** Removes the permissions of group and others. @returns whether there were any */
export function restrictToOwner(path: string): boolean {
  try {
    if ((statSync(path).mode & 0o077) === 0) return false;
    chmodSync(path, 0o600);
    return true;
  } catch {
    return false; // no such file, or owned by another user
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
    // reported below; the message of the parser would quote the file
  }
  throw new CliError(`${path}: not a JSON object`, {
    code: "FILE",
    exitCode: 5,
    hint: "delete the file and register again",
  });
}
