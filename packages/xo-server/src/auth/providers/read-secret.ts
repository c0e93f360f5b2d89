import { readPassword } from "../../pools/pool-password.js";

type SecretKeys<K extends string> = Readonly<
  Record<K | `${K}File` | `${K}Env`, string>
>;

/**
 * Reads a secret from the value, file or environment variable that the
 * configuration names. Read at each use, so that a changed secret takes effect
 * immediately.
 * @returns empty: no secret is configured
 * @throws XoError CONFIG_INVALID
 */
export async function readConfigSecret<K extends string>(
  ways: SecretKeys<K>,
  key: K,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  const password = ways[key];
  const file = ways[`${key}File`];
  const name = ways[`${key}Env`];
  if (file !== "") return readPassword({ passwordFile: file }, env);
  if (name !== "") return readPassword({ passwordEnv: name }, env);
  return password;
}
