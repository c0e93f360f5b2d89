/** Encoded JSON that is sent unchanged. */
export class RawJson {
  /** UTF-8. Shared: must not be modified. */
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** JSON that is encoded while it is sent: the next part is requested when the client has read enough. */
export class JsonStream {
  /** UTF-8, split between characters. */
  readonly parts: AsyncIterable<Buffer>;
  /** Called when a part has been sent: its buffer may be reused. */
  readonly onSent: (part: Buffer) => void;

  constructor(
    parts: AsyncIterable<Buffer>,
    onSent: (part: Buffer) => void = () => undefined,
  ) {
    this.parts = parts;
    this.onSent = onSent;
  }
}

/** An object member with an encoded value. */
export type RawMember = readonly [name: string, value: Buffer];

/** `{...head, name: value, ...}` without decoding the values. */
export function joinObject(
  head: object,
  members: readonly RawMember[],
): Buffer {
  const parts: (Buffer | string)[] = [JSON.stringify(head).slice(0, -1)];
  let separator = Object.keys(head).length === 0 ? "" : ",";
  for (const [name, value] of members) {
    parts.push(`${separator}${JSON.stringify(name)}:`, value);
    separator = ",";
  }
  parts.push("}");
  return join(parts);
}

/** `[value, ...]` */
export function joinArray(values: readonly Buffer[]): Buffer {
  const parts: (Buffer | string)[] = ["["];
  for (const [index, value] of values.entries()) {
    if (index > 0) parts.push(",");
    parts.push(value);
  }
  parts.push("]");
  return join(parts);
}

function join(parts: readonly (Buffer | string)[]): Buffer {
  return Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)),
  );
}
