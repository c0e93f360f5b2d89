/** Replacement for secrets, the text that clients of Xen Orchestra expect. */
export const MASK = "* obfuscated *";

/**
 * Parts of keys under which storage drivers, authentication plug-ins and users
 * store secrets (`chappassword`, `cifspassword_secret`, `s3_secret_key`, ...).
 * Masking too much is preferred to masking too little.
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

/** Keys that are too short to match inside others (`passthrough`). */
const secretWords = new Set(["pass", "pwd", "pw", "auth_key"]);

/**
 * Cache of results: most maps of a fleet have the same few keys. Bounded,
 * because users choose keys.
 */
const cache = new Map<string, boolean>();
const MAX_CACHED = 4096;
const MAX_CACHED_LENGTH = 128;

/** Whether the value of this key is a secret; case is ignored. */
export function isSecretName(name: string): boolean {
  const cached = cache.get(name);
  if (cached !== undefined) return cached;
  const isSecret = matchesSecret(name.toLowerCase());
  if (cache.size >= MAX_CACHED) cache.clear();
  if (name.length <= MAX_CACHED_LENGTH) cache.set(name, isSecret);
  return isSecret;
}

/** Flags of a licence, such as `restrict_pool_secret_rotation`. */
const LICENCE_FLAG_PREFIX = "restrict_";

function matchesSecret(name: string): boolean {
  if (name.startsWith(LICENCE_FLAG_PREFIX)) return false;
  return (
    secretWords.has(name) || secretParts.some((part) => name.includes(part))
  );
}
