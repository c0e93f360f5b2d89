/** What stands instead of a secret: clients of the existing product know this text. */
export const MASK = "* obfuscated *";

/**
 * Part of the names under which storage drivers, authentication plugins and
 * users keep secrets in maps (`chappassword`, `cifspassword_secret`,
 * `s3_secret_key`, ...). Rather too much masked than too little.
 */
const secretParts = [
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
const secretWords = new Set(["pass", "pwd", "pw", "auth_key"]);

/** Names met lately: most of a fleet's maps have the same few. Bounded, as users choose names. */
const cache = new Map<string, boolean>();
const MAX_CACHED = 4096;
const MAX_CACHED_LENGTH = 128;

/** Is what stands under this name in a map to be kept secret? Case does not matter. */
export function isSecretName(name: string): boolean {
  const cached = cache.get(name);
  if (cached !== undefined) return cached;
  const isSecret = matchesSecret(name.toLowerCase());
  if (cache.size >= MAX_CACHED) cache.clear();
  if (name.length <= MAX_CACHED_LENGTH) cache.set(name, isSecret);
  return isSecret;
}

function matchesSecret(name: string): boolean {
  return (
    secretWords.has(name) || secretParts.some((part) => name.includes(part))
  );
}
