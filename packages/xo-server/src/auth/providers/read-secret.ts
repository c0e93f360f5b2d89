import { readPassword } from "../../pools/pool-password.js";

type SecretKeys<K extends string> = Readonly<
  Record<K | `${K}File` | `${K}Env`, string>
>;

/**
 * A secret from the way that its config names, read when it is needed: one
 * that has been changed is taken at once.
 * @returns empty: the config names none
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
