import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { XoError } from "@xo-server/model";
import { LineCounter, isMap, isNode, isScalar, parseDocument } from "yaml";

/** A parsed config file, not validated. */
export interface ConfigFile {
  readonly path: string;
  readonly content: unknown;
  /** Whether the group or others can read the file. */
  readonly readableByOthers: boolean;
  /** Line of a key, starting at 1; for a missing key the line of its nearest parent. */
  lineOf(path: readonly (string | number)[]): number;
}

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
}

/** The environment of this process; tests pass their own. */
export function currentEnvironment(): Environment {
  return { env: process.env, cwd: process.cwd(), home: homedir() };
}

/** Default paths of the config file; the first that exists is used. */
function defaultConfigPaths({ env, cwd, home }: Environment): string[] {
  const settings = env["XDG_CONFIG_HOME"] ?? join(home, ".config");
  return [
    join(cwd, "config.yaml"),
    join(settings, "xo-server", "config.yaml"),
    "/etc/xo-server/config.yaml",
  ];
}

/**
 * The file of --config, else of $XO_CONFIG, else the first existing default path;
 * undefined: none.
 * @throws XoError CONFIG_INVALID: the named file does not exist, or is not YAML
 */
export function findConfigFile(
  named: string | undefined,
  environment: Environment,
): ConfigFile | undefined {
  const explicit = named ?? environment.env["XO_CONFIG"];
  if (explicit !== undefined && explicit !== "")
    return readConfigFile(resolve(environment.cwd, explicit));
  const found = defaultConfigPaths(environment).find((path) => isFile(path));
  return found === undefined ? undefined : readConfigFile(found);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function readConfigFile(path: string): ConfigFile {
  const text = readText(path);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const wrong = document.errors[0];
  if (wrong !== undefined) {
    throw new XoError("CONFIG_INVALID", {
      where: `${path}:${wrong.linePos?.[0].line ?? 1}`,
      // The remainder of the message quotes the line, which may contain a password.
      reason: wrong.message.split(" at line ")[0],
    });
  }
  return {
    path,
    content: toContent(document, path),
    readableByOthers: isReadableByOthers(path),
    lineOf: (keys) => lineOf(document, lines, keys),
  };
}

/**
 * A file of root that the group of this process can read is accepted, because
 * packages install it that way.
 */
function isReadableByOthers(path: string): boolean {
  const { mode, uid, gid } = statSync(path);
  const isOfPackage = uid === 0 && gid !== 0 && gid === process.getgid?.();
  return (mode & (isOfPackage ? 0o004 : 0o044)) !== 0;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new XoError(
      "CONFIG_INVALID",
      {
        where: path,
        reason: code === "ENOENT" ? "no such file" : `cannot be read (${code})`,
      },
      error,
    );
  }
}

type Document = ReturnType<typeof parseDocument>;

function toContent(document: Document, path: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    // Too many nested YAML aliases.
    throw new XoError(
      "CONFIG_INVALID",
      { where: path, reason: (error as Error).message },
      error,
    );
  }
}

function lineOf(
  document: Document,
  lines: LineCounter,
  path: readonly (string | number)[],
): number {
  for (let length = path.length; length > 0; length--) {
    const offset = offsetOf(document, path.slice(0, length));
    if (offset !== undefined) return lines.linePos(offset).line;
  }
  return 1;
}

/** Offset of a key or of an array item; undefined: missing. */
function offsetOf(
  document: Document,
  path: readonly (string | number)[],
): number | undefined {
  const around: unknown = document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  if (isMap(around)) {
    const key = around.items
      .map((pair) => pair.key)
      .find((key) => isScalar(key) && key.value === last);
    return isNode(key) ? key.range?.[0] : undefined;
  }
  const node: unknown = document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}
