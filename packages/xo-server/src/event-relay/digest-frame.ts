/** Digests of a mirror by class, see Inventory.digest. */
export type ClassDigests = Readonly<Record<string, string>>;

/** The digests of a mirror that has applied all events up to a token, and no later ones. */
export interface MirrorDigests {
  readonly token: string;
  readonly digests: ClassDigests;
}

/** First byte of a frame with digests; answers begin with a token. */
const MARK = "#".charCodeAt(0);

/** Encodes digests as the content of a frame. */
export function encodeDigests(digests: MirrorDigests): Buffer {
  return Buffer.from(`#${JSON.stringify(digests)}`);
}

/** @returns undefined: the frame contains something else. @throws SyntaxError */
export function decodeDigests(content: Buffer): MirrorDigests | undefined {
  if (content[0] !== MARK) return undefined;
  return JSON.parse(content.toString("utf8", 1)) as MirrorDigests;
}
