const colons = /\b(?:[0-9a-f]{2}:){31}[0-9a-f]{2}\b/i;
const plain = /\b[0-9a-f]{64}\b/i;

/**
 * The SHA-256 fingerprint in an error message, as pairs with colons; undefined if
 * there is none.
 */
export function fingerprintIn(message: string): string | undefined {
  const found = colons.exec(message)?.[0];
  if (found !== undefined) return found.toUpperCase();
  return plain
    .exec(message)?.[0]
    .toUpperCase()
    .replace(/..(?!$)/g, "$&:");
}
