import { isObject, type Json } from "@xo-server/kit";

/** A public key of a user, in their preferences. */
export interface SshKey {
  readonly title: string;
  /** One line: `ssh-ed25519 AAAA… comment`. */
  readonly key: string;
}

type SshKeyInputError = "required" | "private" | "line" | "format";

/** Keys of other clients may have any shape: those that are not keys are left out. */
export function sshKeysOf({
  preferences,
}: {
  readonly preferences: Readonly<Record<string, Json>>;
}): readonly SshKey[] {
  const { sshKeys } = preferences;
  if (!Array.isArray(sshKeys)) return [];
  return (sshKeys as readonly Json[]).flatMap((one) => {
    if (!isObject(one)) return [];
    const { title, key } = one;
    if (typeof title !== "string" || typeof key !== "string") return [];
    return keyInputError(key) === undefined ? [{ title, key: key.trim() }] : [];
  });
}

/** The input error of a typed key; the server checks it too. */
export function keyInputError(key: string): SshKeyInputError | undefined {
  const line = key.trim();
  if (line === "") return "required";
  if (line.includes("PRIVATE KEY")) return "private";
  if (/[\p{Cc}\u2028\u2029]/u.test(line)) return "line";
  return /^(ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/]+={0,2}( .*)?$/.test(line)
    ? undefined
    : "format";
}

interface KeyParts {
  readonly type: string;
  readonly encoded: string;
  readonly comment: string;
}

/** The parts of a line of `authorized_keys` without options. */
export function partsOf({ key }: Pick<SshKey, "key">): KeyParts {
  const [type = "", encoded = "", ...comment] = key.trim().split(" ");
  return { type, encoded, comment: comment.join(" ") };
}
