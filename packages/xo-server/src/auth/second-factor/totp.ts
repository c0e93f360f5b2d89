import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Time-based one-time passwords (RFC 6238) with the parameters that authenticator apps support: SHA-1, 30 s, 6 digits. */

const STEP_MS = 30_000;
const DIGITS = 6;
/** Accepted clock drift, in steps, in both directions. */
const DRIFT = 1;
/** RFC 4226 requires 128 bits and recommends 160. */
const SECRET_BYTES = 20;
/** RFC 4648. */
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** @returns a secret in base32 */
export function createTotpSecret(): string {
  return toBase32(randomBytes(SECRET_BYTES));
}

/** Content of the QR code (Key URI format). */
export function toTotpUri(secret: string, user: string): string {
  const label = `${encodeURIComponent("xo-server")}:${encodeURIComponent(user)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=xo-server`;
}

/** @returns the time step of the code; undefined: a wrong code */
export function findTotpStep(
  secret: string,
  code: string,
  nowMs: number,
): number | undefined {
  const input = Buffer.from(code.replaceAll(" ", ""));
  if (input.length !== DIGITS) return undefined;
  const key = fromBase32(secret);
  const now = Math.floor(nowMs / STEP_MS);
  for (let step = now - DRIFT; step <= now + DRIFT; step++)
    if (timingSafeEqual(Buffer.from(codeOf(key, step)), input)) return step;
  return undefined;
}

/** The code at a time in ms, for tests and scripts. */
export function totpCode(secret: string, nowMs: number): string {
  return codeOf(fromBase32(secret), Math.floor(nowMs / STEP_MS));
}

/** HOTP, RFC 4226 section 5.3. */
function codeOf(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.max(0, step)));
  const digest = createHmac("sha1", key).update(counter).digest();
  const offset = digest.at(-1)! & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

function toBase32(bytes: Buffer): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => BASE32[parseInt(five.padEnd(5, "0"), 2)])
    .join("");
}

function fromBase32(text: string): Buffer {
  let bits = "";
  for (const letter of text.toUpperCase())
    bits += BASE32.indexOf(letter).toString(2).padStart(5, "0");
  return Buffer.from(
    (bits.match(/.{8}/g) ?? []).map((eight) => parseInt(eight, 2)),
  );
}
