import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  scrypt,
} from "node:crypto";
import { RepositoryError } from "../errors.js";
import { RepositoryKey } from "./derived-keys.js";

/** The repository key, encrypted by a passphrase. Stored as JSON; binary values in base64. */
interface KeySlot {
  readonly version: 1;
  readonly repository: string;
  readonly name: string;
  /** ISO 8601. */
  readonly created: string;
  readonly kdf: {
    readonly name: "scrypt";
    readonly n: number;
    readonly r: number;
    readonly p: number;
    readonly salt: string;
  };
  readonly nonce: string;
  /** AES-256-GCM: ciphertext and tag. */
  readonly wrapped: string;
}

/** Work factor of scrypt: 128 MiB and about 0.4 s. */
const SCRYPT_N = 2 ** 17;
const R = 8;
const P = 1;
/** Above this a slot is refused: it could exhaust the memory of who opens it. */
const MAX_N = 2 ** 20;
const TAG_SIZE = 16;

interface WrapOptions {
  readonly repository: string;
  readonly name: string;
  readonly passphrase: string;
  readonly created: string;
  /** Work factor; lower only in tests. */
  readonly n?: number;
}

/**
 * Creates a key slot. Takes about 0.4 s and 128 MiB (scrypt), off the main
 * thread.
 * @throws RepositoryError `invalid` for an empty passphrase
 */
export async function wrapKey(
  key: RepositoryKey,
  options: WrapOptions,
): Promise<KeySlot> {
  const { repository, name, passphrase, created, n = SCRYPT_N } = options;
  if (passphrase === "")
    throw new RepositoryError("invalid", "passphrase: must not be empty");
  const salt = randomBytes(32);
  const nonce = randomBytes(12);
  const cipher = createCipheriv(
    "aes-256-gcm",
    await stretch(passphrase, salt, n),
    nonce,
  );
  cipher.setAAD(slotData(repository, name));
  const wrapped = Buffer.concat([
    cipher.update(key.bytes),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return {
    version: 1,
    repository,
    name,
    created,
    kdf: { name: "scrypt", n, r: R, p: P, salt: salt.toString("base64") },
    nonce: nonce.toString("base64"),
    wrapped: wrapped.toString("base64"),
  };
}

/** The repository key, or undefined if the passphrase does not open this slot. */
export async function unwrapKey(
  slot: KeySlot,
  passphrase: string,
): Promise<RepositoryKey | undefined> {
  const { n, salt } = slot.kdf;
  if (!(Number.isInteger(n) && n >= 2 && n <= MAX_N)) return undefined;
  const wrapped = Buffer.from(slot.wrapped, "base64");
  try {
    const decipher = createDecipheriv(
      "aes-256-gcm",
      await stretch(passphrase, Buffer.from(salt, "base64"), n),
      Buffer.from(slot.nonce, "base64"),
      { authTagLength: TAG_SIZE },
    );
    decipher.setAAD(slotData(slot.repository, slot.name));
    decipher.setAuthTag(wrapped.subarray(-TAG_SIZE));
    return new RepositoryKey(
      Buffer.concat([
        decipher.update(wrapped.subarray(0, -TAG_SIZE)),
        decipher.final(),
      ]),
    );
  } catch {
    return undefined; // another passphrase, or a damaged slot: both do not open
  }
}

/** @returns the parsed slot, or undefined if the bytes are not one */
export function parseKeySlot(bytes: Buffer): KeySlot | undefined {
  try {
    const slot = JSON.parse(bytes.toString("utf8")) as KeySlot;
    return slot.version === 1 && slot.kdf.name === "scrypt" ? slot : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}

/** What the encryption authenticates beside the key: a slot of another repository does not open. */
function slotData(repository: string, name: string): Buffer {
  return Buffer.from(`xo-backup key slot\n${repository}\n${name}`, "utf8");
}

function stretch(passphrase: string, salt: Buffer, n: number): Promise<Buffer> {
  const options = { N: n, r: R, p: P, maxmem: 2 ** 20 + 256 * n * R };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, 32, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
