/** Encoded JSON, to be joined: large answers are copied once, not by each level. */
type JsonPieces = readonly (Buffer | string)[];

/** Encoded JSON that is sent unchanged. */
export class RawJson {
  readonly #json: Buffer | JsonPieces;

  /** @param json UTF-8. Shared: must not be modified. */
  constructor(json: Buffer | JsonPieces) {
    this.#json = json;
  }

  /** Without a copy. */
  get pieces(): JsonPieces {
    return Buffer.isBuffer(this.#json) ? [this.#json] : this.#json;
  }

  /** UTF-8. Must not be modified. A copy if the JSON is in pieces. */
  get bytes(): Buffer {
    return Buffer.isBuffer(this.#json) ? this.#json : join(this.#json);
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
export type RawMember = readonly [name: string, value: Buffer | JsonPieces];

/** `{...head, name: value, ...}` without decoding the values. */
export function joinObject(
  head: object,
  members: readonly RawMember[],
): Buffer {
  return join(objectPieces(head, members));
}

/** The same without copying the values. */
export function objectPieces(
  head: object,
  members: readonly RawMember[],
): JsonPieces {
  const pieces: (Buffer | string)[] = [JSON.stringify(head).slice(0, -1)];
  let separator = Object.keys(head).length === 0 ? "" : ",";
  for (const [name, value] of members) {
    pieces.push(`${separator}${JSON.stringify(name)}:`);
    addTo(pieces, value);
    separator = ",";
  }
  pieces.push("}");
  return pieces;
}

/** `[value, ...]` */
export function joinArray(values: readonly Buffer[]): Buffer {
  return join(arrayPieces(values));
}

/** The same without copying the values. */
export function arrayPieces(values: readonly Buffer[]): JsonPieces {
  const pieces: (Buffer | string)[] = ["["];
  for (const [index, value] of values.entries()) {
    if (index > 0) pieces.push(",");
    pieces.push(value);
  }
  pieces.push("]");
  return pieces;
}

function addTo(pieces: (Buffer | string)[], value: Buffer | JsonPieces): void {
  if (Buffer.isBuffer(value)) pieces.push(value);
  else for (const piece of value) pieces.push(piece);
}

function join(pieces: JsonPieces): Buffer {
  return Buffer.concat(
    pieces.map((piece) =>
      typeof piece === "string" ? Buffer.from(piece) : piece,
    ),
  );
}
