import { XoError } from "@xo-server/model";
import { REDACTED } from "../log/redact.js";
import { withoutSecrets } from "../operations/audit.js";

/** Secrets by the JSON pointer (RFC 6901) of their place. */
export type Secrets = Readonly<Record<string, unknown>>;

/**
 * Takes out what nobody is to be shown again.
 * @param known what a value that is masked already stands for: the secret that was at the same place
 * @throws XoError INVALID_PARAMETERS: there was none
 */
export function takeSecrets(
  body: object,
  known: Secrets,
): { readonly body: object; readonly secrets: Secrets | undefined } {
  const secrets = new Map<string, unknown>();
  const masked = walk(body, "", (value, path) => {
    if (value === REDACTED && !Object.hasOwn(known, path))
      throw new XoError("INVALID_PARAMETERS", {
        reason: `${path} is masked, and there is nothing known for it`,
      });
    secrets.set(path, value === REDACTED ? known[path] : value);
    return REDACTED;
  });
  return {
    body: masked as object,
    secrets: secrets.size === 0 ? undefined : Object.fromEntries(secrets),
  };
}

/** What was taken out is in again. */
export function putSecrets(body: object, secrets: Secrets): object {
  return walk(body, "", (value, path) =>
    Object.hasOwn(secrets, path) ? secrets[path] : value,
  ) as object;
}

/** A copy in which what has a secret's name is replaced. */
function walk(
  value: unknown,
  path: string,
  replace: (value: unknown, path: string) => unknown,
): unknown {
  if (Array.isArray(value))
    return value.map((one, i) => walk(one, `${path}/${i}`, replace));
  if (typeof value !== "object" || value === null) return value;
  // fromEntries defines members: `__proto__` is one like others.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const place = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const found = isSecret(key, member)
        ? replace(member, place)
        : walk(member, place, replace);
      return [key, found];
    }),
  );
}

/** By the rule of the audit log. */
function isSecret(key: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  const shown = typeof value === "string" ? value : "";
  return Reflect.get(withoutSecrets({ [key]: shown }), key) === REDACTED;
}
