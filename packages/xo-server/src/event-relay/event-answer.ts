import {
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  type DecodedAnswer,
  type RecordBatch,
} from "@xo-server/model";
import type { Decoder, EventAnswer } from "@xo-server/xen-api";

/** Separates the token from the answer; neither contains it. */
const SEPARATOR = "\n".charCodeAt(0);
const operations = Object.keys(
  EventOperation,
) as (keyof typeof EventOperation)[];

/**
 * Encodes an answer of event.from: its token, a line feed, and the answer as XAPI sends it in
 * JSON-RPC, so that another version of this program can read it.
 * @param maxBytes undefined is returned when it is longer
 */
export function encodeAnswer(
  { batches, token, validRefCounts }: EventAnswer,
  maxBytes: number,
): Buffer | undefined {
  const parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array) => {
    parts.push(part);
    length += part.length;
  };
  const counts = JSON.stringify(Object.fromEntries(validRefCounts));
  add(
    Buffer.from(
      `${token}\n{"jsonrpc":"2.0","id":0,"result":{"token":${JSON.stringify(token)},"valid_ref_counts":${counts},"events":[`,
    ),
  );
  let isFirst = true;
  for (const batch of batches)
    for (let row = 0; row < batch.count; row++) {
      addEvent(batch, row, isFirst, add);
      isFirst = false;
      if (length > maxBytes) return undefined;
    }
  add(Buffer.from("]}}"));
  return length > maxBytes ? undefined : Buffer.concat(parts, length);
}

function addEvent(
  { buffer, table, classes }: RecordBatch,
  row: number,
  isFirst: boolean,
  add: (part: Uint8Array) => void,
): void {
  const at = row * RECORD_STRIDE;
  const field = (name: keyof typeof RecordField) =>
    table[at + RecordField[name]]!;
  const className = JSON.stringify(classes[field("classIndex")]);
  const operation = operations.find(
    (name) => EventOperation[name] === field("operation"),
  );
  const comma = isFirst ? "" : ",";
  add(
    Buffer.from(
      `${comma}{"class":${className},"operation":"${operation}","ref":"`,
    ),
  );
  add(new Uint8Array(buffer, field("refOffset"), field("refLength")));
  if (field("length") === 0) {
    add(Buffer.from('"}'));
    return;
  }
  add(Buffer.from('","snapshot":'));
  add(new Uint8Array(buffer, field("offset"), field("length")));
  add(Buffer.from("}"));
}

/** @returns the token of an encoded answer; "": it has none */
export function tokenOf(encoded: Buffer): string {
  const end = Math.max(0, encoded.indexOf(SEPARATOR));
  return encoded.toString("utf8", 0, end);
}

/**
 * @param lane see DecodeRequest
 * @throws XoError BAD_ANSWER, ANSWER_TOO_DEEP, PARSER_FAILED
 */
export async function decodeAnswer(
  encoded: Buffer,
  decoder: Pick<Decoder, "open">,
  lane: string,
): Promise<EventAnswer> {
  const batches: RecordBatch[] = [];
  const body = encoded.subarray(encoded.indexOf(SEPARATOR) + 1);
  const stream = decoder.open(
    {
      encoding: "json-rpc",
      shape: "events",
      priority: "event",
      lane,
      contentLength: body.length,
    },
    { onBatch: (batch) => batches.push(batch) },
  );
  for (let at = 0; at < body.length;) {
    const space = stream.space();
    const part = body.subarray(at, at + space.length);
    space.set(part);
    // The whole answer is in memory already: there is nothing to hold back.
    stream.commit(part.length);
    at += part.length;
  }
  return { batches, ...positionOf(await stream.end(), tokenOf(encoded)) };
}

function positionOf(answer: DecodedAnswer, token: string) {
  const validRefCounts =
    answer.outcome === "success" ? answer.validRefCounts : undefined;
  return { token, validRefCounts: validRefCounts ?? new Map<string, number>() };
}
