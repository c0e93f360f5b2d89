import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";

/** Public keys of a user, as Xen Orchestra stores them in the preferences. */
const SshKeys = Type.Array(
  Type.Object(
    {
      title: Type.String({ minLength: 1, maxLength: 256 }),
      key: Type.String({
        minLength: 1,
        maxLength: 16_384,
        description:
          "One line in OpenSSH's format: `ssh-ed25519 AAAA… comment`.",
      }),
    },
    { additionalProperties: false },
  ),
  { maxItems: 100 },
);
type SshKeys = Static<typeof SshKeys>;

const keyTypes = [
  "ssh-ed25519",
  "ssh-rsa",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "sk-ssh-ed25519@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
];

/**
 * Checks that `preferences.sshKeys` are public keys, each on one line: they are
 * written into configurations of guests.
 * @throws XoError INVALID_PARAMETERS, without the key, because it may be a private
 * one
 */
export function checkSshKeys(keys: unknown): void {
  const [error] = Value.Errors(SshKeys, keys);
  if (error !== undefined)
    throw invalid(`${error.instancePath}: ${error.message}`);
  const titles = new Set<string>();
  for (const [index, { title, key }] of (keys as SshKeys).entries()) {
    if (titles.has(title))
      throw invalid(`/${index}/title: another key has the title ${title}`);
    titles.add(title);
    const fault = keyFault(key);
    if (fault !== undefined) throw invalid(`/${index}/key: ${fault}`);
  }
}

function keyFault(key: string): string | undefined {
  if (key.includes("PRIVATE KEY"))
    return "it is a private key; the public key is in the file that ends with .pub";
  // Also rejects characters that only YAML treats as line breaks.
  if (/[\p{Cc}\u2028\u2029]/u.test(key.trim())) return "it must be one line";
  const [type = "", encoded = ""] = key.trim().split(" ");
  if (!keyTypes.includes(type))
    return `it must begin with one of ${keyTypes.join(", ")}`;
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded);
  const bytes = Buffer.from(encoded, "base64");
  const length = bytes.length < 4 ? -1 : bytes.readUInt32BE(0);
  if (!isBase64 || bytes.toString("latin1", 4, 4 + length) !== type)
    return `what follows ${type} is not a key of this type`;
  return undefined;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", {
    reason: `preferences/sshKeys${reason}`,
    errors: [],
  });
}
