import { XoError } from "@xo-server/model";
import { REDACTED } from "../log/redact.js";
import { withoutSecrets } from "../operations/audit.js";

/** Secrets by the JSON pointer (RFC 6901) of their position. */
export type Secrets = Readonly<Record<string, unknown>>;

/**
 * Removes secrets from a body, so that it can be stored and returned.
 * @param known secrets that masked values stand for, by their position
 * @throws XoError INVALID_PARAMETERS: a masked value has no known secret
 */
export function extractSecrets(
  body: object,
  known: Secrets,
): { readonly body: object; readonly secrets: Secrets | undefined } {
  const secrets = new Map<string, unknown>();
  const masked = walk(body, "", (value, path) => {
    if (value === REDACTED && !Object.hasOwn(known, path))
      throw new XoError("INVALID_PARAMETERS", {
        reason: `${path} is masked, but no value is stored for it`,
      });
    secrets.set(path, value === REDACTED ? known[path] : value);
    return REDACTED;
  });
  return {
    body: masked as object,
    secrets: secrets.size === 0 ? undefined : Object.fromEntries(secrets),
  };
}

/** Inserts the secrets again. */
export function insertSecrets(body: object, secrets: Secrets): object {
  return walk(body, "", (value, path) =>
    Object.hasOwn(secrets, path) ? secrets[path] : value,
  ) as object;
}

/** A copy with the values of secret members replaced. */
function walk(
  value: unknown,
  path: string,
  replace: (value: unknown, path: string) => unknown,
): unknown {
  if (Array.isArray(value))
    return value.map((one, i) => walk(one, `${path}/${i}`, replace));
  if (typeof value !== "object" || value === null) return value;
  // fromEntries defines own members, even for `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const pointer = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const found = isSecret(key, member)
        ? replace(member, pointer)
        : walk(member, pointer, replace);
      return [key, found];
    }),
  );
}

/** Whether a member is a secret, by the same rule as in the audit log. */
function isSecret(key: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  const shown = typeof value === "string" ? value : "";
  return Reflect.get(withoutSecrets({ [key]: shown }), key) === REDACTED;
}
