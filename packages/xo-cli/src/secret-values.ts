import { usageError } from "./cli-error.js";
import type { Host } from "./host.js";
import { promptSecret } from "./prompt.js";
import type { Values } from "./values.js";

/** Stands for a secret: the arguments of a process are visible to all users of the machine. */
const SECRET = "@-";

/**
 * Replaces values `@-` by what is entered without echo, or by the first line of stdin.
 * @throws CliError USAGE: nothing was entered, or several are to be read from stdin
 */
export async function withSecrets(
  params: Values["params"],
  host: Host,
): Promise<Values["params"]> {
  const names = Object.keys(params).filter((name) => params[name] === SECRET);
  if (names.length > 1 && host.stdin.isTTY !== true)
    throw usageError(`only one value can be read from stdin: ${names[1]}`);
  const secrets: Record<string, string> = {};
  for (const name of names) {
    const secret = await promptSecret(host, name);
    if (secret === "") throw usageError(`no ${name}`, "enter it, or use stdin");
    secrets[name] = secret;
  }
  return { ...params, ...secrets };
}
