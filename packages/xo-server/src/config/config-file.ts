import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { XoError } from "@xo-server/model";
import { LineCounter, isMap, isNode, isScalar, parseDocument } from "yaml";

/** A config file as it was written, before anybody looked whether it is right. */
export interface ConfigFile {
  readonly path: string;
  readonly content: unknown;
  /** Group or others may read it. */
  readonly readableByOthers: boolean;
  /** The line, from 1, on which a key stands; that of the nearest key around it when it does not stand there. */
  lineOf(path: readonly (string | number)[]): number;
}

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
}

export function currentEnvironment(): Environment {
  return { env: process.env, cwd: process.cwd(), home: homedir() };
}

/** Where a config may stand when nobody says where; the first that exists counts. */
export function defaultConfigPaths({ env, cwd, home }: Environment): string[] {
  const settings = env["XDG_CONFIG_HOME"] ?? join(home, ".config");
  return [
    join(cwd, "config.yaml"),
    join(settings, "xo-server", "config.yaml"),
    "/etc/xo-server/config.yaml",
  ];
}

/**
 * The file that was named (by --config, then by $XO_CONFIG), else the first of
 * the usual places; undefined when there is none of those.
 * @throws XoError CONFIG_INVALID when a named file is not there, or is not YAML
 */
export function findConfigFile(
  named: string | undefined,
  surroundings: Environment,
): ConfigFile | undefined {
  const explicit = named ?? surroundings.env["XO_CONFIG"];
  if (explicit !== undefined && explicit !== "")
    return readConfigFile(resolve(surroundings.cwd, explicit));
  const found = defaultConfigPaths(surroundings).find((path) => isFile(path));
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
      // The message repeats the line itself below, and that line may hold a password.
      reason: wrong.message.split(" at line ")[0],
    });
  }
  return {
    path,
    content: toContent(document, path),
    readableByOthers: (statSync(path).mode & 0o044) !== 0,
    lineOf: (keys) => lineOf(document, lines, keys),
  };
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
    // Aliases of aliases of aliases: the parser refuses to unfold them.
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

/** Where a key, or an item of a list, starts; undefined when it is not there. */
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
