import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { XoError } from "@xo-server/model";
import { KEY_BYTES, type Key } from "./key.js";

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/**
 * Encrypts secrets of the database. A sealed text is
 * `v1.<key id>.<base64url of IV, tag, ciphertext>`. The context (table, column,
 * row) is authenticated, so that a ciphertext cannot be moved to another row.
 */
export class Vault {
  /** For error messages. */
  readonly #source: string;
  #keys: ReadonlyMap<string, Key>;
  #current: Key;

  /** @param keys the first one encrypts */
  constructor(source: string, keys: readonly Key[]) {
    this.#source = source;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    this.#current = keys[0]!;
  }

  get keyId(): string {
    return this.#current.id;
  }

  get keys(): readonly Key[] {
    return [...this.#keys.values()];
  }

  /** Sets the keys; `keys[0]` encrypts from now on. */
  use(keys: readonly Key[]): void {
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    this.#current = keys[0]!;
  }

  /** @param context for example `servers/credentials/ID` */
  seal(text: string, context: string): string {
    const { id, bytes } = this.#current;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, bytes, iv).setAAD(
      Buffer.from(`${id}/${context}`),
    );
    const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    const all = Buffer.concat([iv, cipher.getAuthTag(), body]);
    return `v1.${id}.${all.toString("base64url")}`;
  }

  /** Whether a text has the form of a sealed one. */
  isSealed(text: string): boolean {
    return SEALED.test(text);
  }

  /** @throws XoError STORE_KEY_WRONG, SECRET_DAMAGED */
  open(sealed: string, context: string): string {
    const match = SEALED.exec(sealed);
    if (match === null) throw new XoError("SECRET_DAMAGED", { what: context });
    const id = match[1]!;
    const key = this.#keys.get(id);
    if (key === undefined) throw this.wrongKey(id);
    const all = Buffer.from(match[2]!, "base64url");
    if (all.length < IV_BYTES + TAG_BYTES)
      throw new XoError("SECRET_DAMAGED", { what: context });
    const decipher = createDecipheriv(
      ALGORITHM,
      key.bytes,
      all.subarray(0, IV_BYTES),
      { authTagLength: TAG_BYTES },
    )
      .setAAD(Buffer.from(`${id}/${context}`))
      .setAuthTag(all.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const body = all.subarray(IV_BYTES + TAG_BYTES);
    try {
      return decipher.update(body, undefined, "utf8") + decipher.final("utf8");
    } catch {
      throw new XoError("SECRET_DAMAGED", { what: context });
    }
  }

  /** An HMAC of the text, hexadecimal. @param purpose separates codes of different uses */
  authenticate(purpose: string, text: string): string {
    return this.#mac(this.#current, purpose, text).toString("hex");
  }

  /** Was the code created by `authenticate` with any of the keys? */
  isAuthentic(purpose: string, text: string, code: string): boolean {
    const actual = Buffer.from(code, "hex");
    return this.keys.some((key) => {
      const expected = this.#mac(key, purpose, text);
      return (
        expected.length === actual.length && timingSafeEqual(expected, actual)
      );
    });
  }

  /** Returns a code like `authenticate`, as 43 characters of base64url. */
  deriveToken(purpose: string, text: string): string {
    return this.#mac(this.#current, purpose, text).toString("base64url");
  }

  wrongKey(expected: string): XoError {
    return new XoError("STORE_KEY_WRONG", {
      expected,
      source: this.#source,
      found: [...this.#keys.keys()].join(", "),
    });
  }

  #mac(key: Key, purpose: string, text: string): Buffer {
    const subkey = hkdfSync("sha256", key.bytes, "", purpose, KEY_BYTES);
    return createHmac("sha256", Buffer.from(subkey)).update(text).digest();
  }
}
