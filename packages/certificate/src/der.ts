/** Values in DER, as far as a certificate needs them (ITU-T X.690). */

/** SEQUENCE of values that are encoded already. */
export function sequence(...parts: readonly Buffer[]): Buffer {
  return encode(0x30, Buffer.concat(parts));
}

/** SET of values that are encoded already. They are not sorted, as DER requires of several. */
export function set(...parts: readonly Buffer[]): Buffer {
  return encode(0x31, Buffer.concat(parts));
}

/** @param bytes big-endian two's complement, without superfluous leading bytes */
export function integer(bytes: Buffer): Buffer {
  return encode(0x02, bytes);
}

/** BOOLEAN: DER encodes true as 0xff. */
export function boolean(value: boolean): Buffer {
  return encode(0x01, Buffer.from([value ? 0xff : 0]));
}

/** NULL: the parameters of an algorithm that has none. */
export function nullValue(): Buffer {
  return encode(0x05, Buffer.alloc(0));
}

/** OCTET STRING */
export function octetString(bytes: Buffer): Buffer {
  return encode(0x04, bytes);
}

/** @param unusedBits number of bits at the end of the last byte that do not belong to the value */
export function bitString(bytes: Buffer, unusedBits = 0): Buffer {
  return encode(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

/** UTF8String */
export function utf8String(text: string): Buffer {
  return encode(0x0c, Buffer.from(text, "utf8"));
}

/** @param id for example `2.5.4.3` */
export function objectId(id: string): Buffer {
  const [first = 0, second = 0, ...others] = id.split(".").map(Number);
  return encode(
    0x06,
    Buffer.from([first * 40 + second, ...others.flatMap(toBase128)]),
  );
}

/** @param ms milliseconds since the epoch; fractions of a second are dropped */
export function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  // UTCTime has two digits of the year; RFC 5280 requires it before 2050.
  return text < "2050"
    ? encode(0x17, Buffer.from(text.slice(2), "ascii"))
    : encode(0x18, Buffer.from(text, "ascii"));
}

/** A context-specific tag. @param constructed false: `content` is a bare value */
export function contextTag(
  number: number,
  content: Buffer,
  { constructed = true } = {},
): Buffer {
  return encode((constructed ? 0xa0 : 0x80) | number, content);
}

function encode(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content)]), content]);
}

function lengthOf({ length }: Buffer): number[] {
  if (length < 0x80) return [length];
  const bytes = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256))
    bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

/** Seven bits a byte; all but the last byte have the highest bit set. */
function toBase128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = value >> 7; rest > 0; rest >>= 7)
    bytes.unshift(0x80 | (rest % 128));
  return bytes;
}
