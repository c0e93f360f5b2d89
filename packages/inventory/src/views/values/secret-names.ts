/** What stands instead of a secret: clients of the existing product know this text. */
export const MASK = "* obfuscated *";

/**
 * Part of the names under which storage drivers, authentication plugins and
 * users keep secrets in maps (`chappassword`, `cifspassword_secret`,
 * `s3_secret_key`, ...). Rather too much masked than too little.
 */
const parts = [
  "password",
  "passwd",
  "passphrase",
  "secret",
  "credential",
  "token",
  "privatekey",
  "private_key",
  "private-key",
  "accesskey",
  "access_key",
  "access-key",
  "apikey",
  "api_key",
  "api-key",
];

/** Names that are too short to look for inside others (`passthrough`). */
const wholes = new Set(["pass", "pwd", "pw", "auth_key"]);

/** Names met lately: most of a fleet's maps have the same few. Bounded, as users choose names. */
const known = new Map<string, boolean>();
const KNOWN_NAMES = 4096;
const LONGEST_KNOWN = 128;

/** Is what stands under this name in a map to be kept secret? Case does not matter. */
export function isSecretName(name: string): boolean {
  const before = known.get(name);
  if (before !== undefined) return before;
  const isSecret = judge(name.toLowerCase());
  if (known.size >= KNOWN_NAMES) known.clear();
  if (name.length <= LONGEST_KNOWN) known.set(name, isSecret);
  return isSecret;
}

function judge(name: string): boolean {
  return wholes.has(name) || parts.some((part) => name.includes(part));
}
