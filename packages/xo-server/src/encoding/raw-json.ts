/** JSON that is encoded already: doors pass its bytes on as they are. */
export class RawJson {
  /** UTF-8. Not to be changed. */
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** JSON that is made while it is sent: the next part is asked for when there is room for it. */
export class JsonStream {
  /** UTF-8, cut between characters. */
  readonly parts: AsyncIterable<Buffer>;
  /** Is told of each part that has been sent: its bytes may be used for another one then. */
  readonly onSent: (part: Buffer) => void;

  constructor(
    parts: AsyncIterable<Buffer>,
    onSent: (part: Buffer) => void = () => undefined,
  ) {
    this.parts = parts;
    this.onSent = onSent;
  }
}

/** A member of an object whose value is encoded already. */
export type RawMember = readonly [name: string, value: Buffer];

/** `{...head, name: value, ...}`: what is encoded is not touched again. */
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
