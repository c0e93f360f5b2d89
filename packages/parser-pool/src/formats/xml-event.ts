import { EventOperation } from "@xo-server/model";
import type { ClassRegistry } from "./class-registry.js";
import { badAnswer } from "./bad-input.js";
import type { BatchBuilder, FoundRecord } from "./batch-builder.js";
import type { JsonOutput } from "./json-output.js";
import type { XmlCursor } from "./xml-cursor.js";
import { MEMBER_END, STRUCT, VALUE, VALUE_END } from "./xml-tag.js";
import type { XmlTranscoder } from "./xml-transcoder.js";

/** Parts that an event reader uses. */
interface XmlTools {
  readonly cursor: XmlCursor;
  readonly transcoder: XmlTranscoder;
  readonly output: JsonOutput;
  readonly builder: BatchBuilder;
  readonly classes: ClassRegistry;
}

/** Reads the events of event.from, with members in any order. */
export class XmlEventReader {
  readonly #tools: XmlTools;

  constructor(tools: XmlTools) {
    this.#tools = tools;
  }

  /** Reads the `<value>` of an event at `pos`, nested in `depth` levels. @returns the position after the event */
  read(pos: number, depth: number): number {
    const { cursor, transcoder, output } = this.#tools;
    const words = new Map<string, string>();
    let snapshot = -1;
    let at = cursor.expect(cursor.expect(pos, VALUE), STRUCT);
    for (;;) {
      const member = transcoder.member(at);
      if (member < 0) break;
      const from = output.used;
      const value = transcoder.name(member);
      const name = JSON.parse(output.text(from, output.used)) as string;
      output.used = from;
      if (name === "snapshot") snapshot = value;
      // Read once to find its end, as the class may follow the snapshot.
      at = transcoder.value(value, undefined, depth + 1);
      if (WORDS.has(name)) words.set(name, output.text(from, output.used));
      output.used = from;
      at = cursor.expect(at, MEMBER_END);
    }
    const end = cursor.expect(transcoder.structEnd, VALUE_END);
    this.#add(words, snapshot, depth);
    return end;
  }

  #add(
    words: ReadonlyMap<string, string>,
    snapshot: number,
    depth: number,
  ): void {
    const { output, builder, classes } = this.#tools;
    const found: FoundRecord = {
      className: classes.classNameOf(wordOf(words, "class")),
      operation: operationOf(wordOf(words, "operation")),
      refOffset: output.used,
      refLength: 0,
      offset: 0,
      length: 0,
      lenient: false,
    };
    output.ascii(wordOf(words, "ref"));
    found.refLength = output.used - found.refOffset;
    const columns =
      found.operation === EventOperation.del || snapshot < 0
        ? 0
        : this.#snapshot(found, snapshot, depth);
    builder.add(output, found, columns);
  }

  /** @returns the number of columns */
  #snapshot(found: FoundRecord, pos: number, depth: number): number {
    const { cursor, transcoder, output, builder, classes } = this.#tools;
    const value = cursor.expect(pos, VALUE);
    const struct = cursor.accept(value, STRUCT);
    // An empty value means no record.
    if (struct < 0) return 0;
    const model = classes.classOf(found.className);
    builder.openColumns(model.columns.count);
    found.offset = output.used;
    transcoder.lenient = false;
    transcoder.record(struct, model, depth + 2, builder);
    found.length = output.used - found.offset;
    found.lenient = transcoder.lenient;
    return model.columns.count;
  }
}

const WORDS = new Set(["class", "operation", "ref"]);

/** The text of a member; class names, operations and references contain no escapes. */
function wordOf(words: ReadonlyMap<string, string>, name: string): string {
  const json = words.get(name);
  const match = /^"([\x20-\x7e]*)"$/.exec(json ?? "");
  if (match === null || match[1]!.includes("\\"))
    throw badAnswer(`an event without a valid ${name}`);
  return match[1]!;
}

function operationOf(text: string): EventOperation {
  if (text === "add" || text === "mod" || text === "del")
    return EventOperation[text];
  throw badAnswer("an event whose operation is not add, mod or del");
}
