import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  scrypt,
  type CipherGCM,
} from "node:crypto";
import { XoError } from "@xo-server/model";
import { limits } from "../schema/limits.js";

/*
 * XOCONF1\n
 * {"ln":17,"r":8,"p":1,"salt":"…","iv":"…"}\n
 * ciphertext (AES-256-GCM, key: scrypt of the passphrase, both lines authenticated too)
 * tag, 16 bytes
 */
const MAGIC = "XOCONF1\n";
const ALGORITHM = "aes-256-gcm";
const TAG_BYTES = 16;
const MAX_HEADER_BYTES = 1_024;
const MIN_PASSPHRASE_CHARACTERS = 8;
/** Bytes per turn of the event loop; about 50 us of AES. */
const SLICE_BYTES = 64 * 1_024;

interface Header {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly iv: string;
}

/** Encrypts a text with a passphrase. @param ln log2 of the cost parameter N of scrypt */
export async function* sealFile(
  plain: AsyncIterable<string>,
  passphrase: string,
  ln: number,
): AsyncGenerator<Uint8Array> {
  if (passphrase.length < MIN_PASSPHRASE_CHARACTERS)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `the passphrase has less than ${MIN_PASSPHRASE_CHARACTERS} characters`,
    });
  const header: Header = {
    ln,
    r: 8,
    p: 1,
    salt: randomBytes(16).toString("base64url"),
    iv: randomBytes(12).toString("base64url"),
  };
  const head = Buffer.from(`${MAGIC}${JSON.stringify(header)}\n`);
  const key = await deriveKey(passphrase, header);
  const iv = Buffer.from(header.iv, "base64url");
  const cipher: CipherGCM = createCipheriv(ALGORITHM, key, iv).setAAD(head);
  yield head;
  for await (const text of plain) yield cipher.update(text, "utf8");
  yield Buffer.concat([cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts a file. Returns nothing before the whole file is authenticated.
 * @throws XoError PASSPHRASE_WRONG, IMPORT_INVALID
 */
export async function openFile(
  file: Buffer,
  passphrase: string,
): Promise<Buffer[]> {
  const { header, head } = readHeader(file);
  const body = file.subarray(head.length, -TAG_BYTES);
  const key = await deriveKey(passphrase, header);
  const iv = Buffer.from(header.iv, "base64url");
  const decipher = createDecipheriv(ALGORITHM, key, iv, {
    authTagLength: TAG_BYTES,
  })
    .setAAD(head)
    .setAuthTag(file.subarray(-TAG_BYTES));
  const plain: Buffer[] = [];
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    plain.push(decipher.update(body.subarray(at, at + SLICE_BYTES)));
    await new Promise(setImmediate);
  }
  try {
    plain.push(decipher.final());
  } catch {
    throw new XoError("PASSPHRASE_WRONG");
  }
  return plain;
}

/** @throws XoError VALUE_TOO_LARGE */
export async function collect(
  source: AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > limits.importBytes)
      throw new XoError("VALUE_TOO_LARGE", {
        what: "the configuration",
        bytes,
        limit: limits.importBytes,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function readHeader(file: Buffer): { header: Header; head: Buffer } {
  const start = file.subarray(0, MAX_HEADER_BYTES);
  const end = start.indexOf("\n", MAGIC.length) + 1;
  if (!start.toString("latin1").startsWith(MAGIC) || end === 0)
    throw invalid("not an export of xo-server");
  if (file.length < end + TAG_BYTES) throw invalid("the file is truncated");
  const header = parseHeader(start.toString("utf8", MAGIC.length, end));
  return { header, head: file.subarray(0, end) };
}

function parseHeader(text: string): Header {
  let header: Partial<Record<keyof Header, unknown>>;
  try {
    header = JSON.parse(text) as typeof header;
  } catch {
    throw invalid("the header is not JSON");
  }
  const { ln, r, p, salt, iv } = header;
  // The file is untrusted: limits scrypt to 256 MiB and a few seconds.
  const isCheap =
    isWithin(ln, 10, 18) && isWithin(r, 1, 8) && isWithin(p, 1, 4);
  if (!isCheap || typeof salt !== "string" || typeof iv !== "string")
    throw invalid("the header is invalid");
  if (Buffer.from(iv, "base64url").length !== 12)
    throw invalid("the header is invalid");
  return header as unknown as Header;
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return (
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
  );
}

function deriveKey(passphrase: string, header: Header): Promise<Buffer> {
  const { ln, r, p, salt } = header;
  const options = { N: 2 ** ln, r, p, maxmem: 2 ** ln * r * 128 * 2 };
  return new Promise((resolve, reject) => {
    const text = passphrase.normalize("NFC");
    scrypt(text, Buffer.from(salt, "base64url"), 32, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function invalid(reason: string): XoError {
  return new XoError("IMPORT_INVALID", { reason });
}
