import { usageError } from "./cli-error.js";

/** Parameters of a call, and the file to upload or download. */
export interface Values {
  readonly params: Readonly<Record<string, unknown>>;
  /** From `@=file` or `@file`. */
  readonly file: string | undefined;
}

/**
 * Parses `name=value` arguments like Xen Orchestra's xo-cli: `true` and `false` are
 * booleans, `json:...` is JSON, everything else is a string.
 */
export function toValues(words: readonly string[]): Values {
  const params: Record<string, unknown> = Object.create(
    null,
  ) as object as Record<string, unknown>;
  let file: string | undefined;
  for (const word of words) {
    const at = word.indexOf("=");
    if (word.startsWith("@")) {
      file = word.slice(at === 1 ? 2 : 1);
      if (file === "") throw usageError(`no file name in ${word}`);
    } else if (at > 0) params[word.slice(0, at)] = toValue(word, at);
    else
      throw usageError(
        `${JSON.stringify(word)} is not name=value`,
        "write numbers, lists and objects as JSON: limit=json:5",
      );
  }
  return { params, file };
}

function toValue(word: string, at: number): unknown {
  const text = word.slice(at + 1);
  if (text === "true") return true;
  if (text === "false") return false;
  if (!text.startsWith("json:")) return text;
  try {
    return JSON.parse(text.slice("json:".length)) as unknown;
  } catch (error) {
    const name = word.slice(0, at);
    throw usageError(`${name}: not JSON: ${(error as Error).message}`);
  }
}
