import { createHash } from "node:crypto";
import { RepositoryError } from "../errors.js";
import { RepositoryKey } from "./derived-keys.js";

/** Base 32 of RFC 4648: no 0, 1, 8 or 9, which look like letters. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const KEY_SIZE = 32;
const CHECK_SIZE = 3;

/** The repository key as text to write down: 56 letters and digits in 14 groups; the last bytes are a check sum. */
export function recoveryKey(key: RepositoryKey): string {
  const bytes = Buffer.concat([key.bytes, checkSum(key.bytes)]);
  return toBase32(bytes).match(/.{4}/g)!.join("-");
}

/** @throws RepositoryError `invalid` if it was mistyped */
export function parseRecoveryKey(text: string): RepositoryKey {
  const bytes = fromBase32(text.toUpperCase().replace(/[\s-]/g, ""));
  const key = bytes?.subarray(0, KEY_SIZE);
  if (
    bytes?.length !== KEY_SIZE + CHECK_SIZE ||
    !checkSum(key!).equals(bytes.subarray(KEY_SIZE))
  )
    throw new RepositoryError(
      "invalid",
      "recovery key: expected 14 groups of 4 letters and digits (A-Z, 2-7); the check sum does not match",
    );
  return new RepositoryKey(Buffer.from(key!));
}

/** A page of plain text to print and to store apart from the repository. */
export function recoverySheet(options: {
  readonly key: RepositoryKey;
  readonly repository: string;
  readonly location: string;
  /** ISO 8601. */
  readonly date: string;
}): string {
  const groups = recoveryKey(options.key).split("-");
  return [
    "RECOVERY SHEET OF A BACKUP REPOSITORY",
    "",
    `Repository:  ${options.repository}`,
    `Location:    ${options.location}`,
    `Printed:     ${options.date}`,
    "",
    "Recovery key:",
    "",
    `    ${groups.slice(0, 7).join("-")}`,
    `    ${groups.slice(7).join("-")}`,
    "",
    "This key opens every backup of the repository without a passphrase and",
    "cannot be revoked. Keep this sheet where only administrators can read it,",
    "and not on the storage that holds the repository.",
    "",
    "With a new server (docs/backup.md, When the server is lost too):",
    "",
    "    xo-cli repository add NAME URL --recovery-key     (prompts for KEY)",
    "",
    "Without any server, with Python 3 and a copy of the repository:",
    "",
    "    python3 read-backup.py REPOSITORY --recovery-key KEY list",
    "    python3 read-backup.py REPOSITORY --recovery-key KEY restore BACKUP DISK FILE",
    "",
    'KEY is both lines of the recovery key, joined by "-"; URL the location: file:// and the',
    "path, or s3:// with ACCESS_KEY:SECRET_KEY@ before the host; REPOSITORY the folder with",
    "the file repository.json; BACKUP and DISK are ids, which list prints with names.",
    "The program is tools/read-backup.py; the format is described in",
    "docs/backup-format.md of the xo-server sources.",
    "",
  ].join("\n");
}

function checkSum(key: Buffer): Buffer {
  return createHash("sha256")
    .update("xo-backup recovery key")
    .update(key)
    .digest()
    .subarray(0, CHECK_SIZE);
}

function toBase32(bytes: Buffer): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5)
      text += ALPHABET[(value >> (bits - 5)) & 31];
  }
  return text;
}

function fromBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) return undefined;
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) bytes.push((value >> (bits -= 8)) & 0xff);
  }
  return Buffer.from(bytes);
}
