import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { RepositoryError } from "../errors.js";
import type { RepositoryKey } from "../keys/derived-keys.js";

/*
 * A sealed file: JSON, deflated, encrypted and authenticated together with its
 * name, so that a file under another name does not open. Log entries,
 * checkpoints and manifests are sealed files.
 *
 *   0  8   magic
 *   8  32  salt of the file's key
 *  40  ..  ciphertext of zlib(JSON)
 *      16  tag
 */
const MAGIC = Buffer.from("XOBKSEA1", "latin1");
const SALT_SIZE = 32;
const HEADER_SIZE = MAGIC.length + SALT_SIZE;
const TAG_SIZE = 16;
/** The key is used once. */
const NONCE = Buffer.alloc(12);
/** Maximum size of the JSON, in bytes: bounds the memory needed to open a file. */
const MAX_JSON = 256 * 1024 * 1024;

/**
 * The bytes of a sealed file.
 * @param name path of the file in the repository: under another name it does not
 *   open
 * @param value JSON, at most 256 MiB as text, or `openSealedJson` refuses it
 */
export function sealJson(
  key: RepositoryKey,
  name: string,
  value: unknown,
): Buffer {
  const header = Buffer.concat([MAGIC, randomBytes(SALT_SIZE)]);
  const cipher = createCipheriv(
    "aes-256-gcm",
    key.fileKey(header.subarray(MAGIC.length), "sealed"),
    NONCE,
  );
  cipher.setAAD(sealedData(header, name));
  const plain = deflateSync(Buffer.from(JSON.stringify(value), "utf8"));
  return Buffer.concat([
    header,
    cipher.update(plain),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** @throws RepositoryError `damaged` unless these are the bytes that were sealed under this name */
export function openSealedJson(
  key: RepositoryKey,
  name: string,
  bytes: Buffer,
): unknown {
  try {
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
      throw new Error("not a sealed file");
    const header = bytes.subarray(0, HEADER_SIZE);
    const decipher = createDecipheriv(
      "aes-256-gcm",
      key.fileKey(header.subarray(MAGIC.length), "sealed"),
      NONCE,
      { authTagLength: TAG_SIZE },
    );
    decipher.setAAD(sealedData(header, name));
    decipher.setAuthTag(bytes.subarray(-TAG_SIZE));
    const plain = Buffer.concat([
      decipher.update(bytes.subarray(HEADER_SIZE, -TAG_SIZE)),
      decipher.final(),
    ]);
    const json = inflateSync(plain, { maxOutputLength: MAX_JSON });
    return JSON.parse(json.toString("utf8")) as unknown;
  } catch (cause) {
    throw new RepositoryError("damaged", `${name} is damaged`, { cause });
  }
}

function sealedData(header: Buffer, name: string): Buffer {
  return Buffer.concat([header, Buffer.from(name, "utf8")]);
}
