import type { ViewChange, ViewObject } from "@xo-server/inventory";
import { pick } from "../collections/collection-pages.js";

export type EventName = "add" | "update" | "remove";

export interface SubscriptionOptions {
  /** As it was asked for: a type, or `alarm`. */
  readonly name: string;
  /** Of the objects in the catalog. */
  readonly type: string;
  readonly fields: readonly string[] | "*";
  /** Which objects of the type are told of; absent: all. */
  readonly accepts?: (object: ViewObject) => boolean;
  /** What is told of an object; absent: the object as it is. */
  readonly map?: (object: ViewObject) => ViewObject;
}

/** What one stream is told of the objects of one type. */
export class Subscription {
  readonly name: string;
  readonly type: string;
  readonly #options: SubscriptionOptions;
  readonly #variant: string;
  /** Ids of those that the reader knows of; undefined: of all. */
  readonly #known: Set<string> | undefined;

  constructor(options: SubscriptionOptions) {
    this.name = options.name;
    this.type = options.type;
    this.#options = options;
    this.#variant = JSON.stringify([options.name, options.fields]);
    this.#known = options.accepts === undefined ? undefined : new Set();
  }

  /** The reader can have seen this object before. */
  addKnown(id: string): void {
    this.#known?.add(id);
  }

  /** A change as an event, in the bytes of the stream; undefined: it is nothing to this reader. */
  encode(change: ViewChange): Buffer | undefined {
    const name = this.#eventOf(change);
    if (name === undefined) return undefined;
    if (name === "remove") return this.#encodeRemoval(change);
    if (name === "update" && !this.#isRelevant(change)) return undefined;
    return encodedOnce(change, `${name} ${this.#variant}`, () =>
      toEvent(name, this.#encodeData(change)),
    );
  }

  #eventOf(change: ViewChange): EventName | undefined {
    const known = this.#known;
    if (known === undefined) return change.kind;
    const was = known.has(change.id);
    const is =
      change.kind !== "remove" && this.#options.accepts!(objectOf(change));
    if (is) known.add(change.id);
    else known.delete(change.id);
    if (was) return is ? "update" : "remove";
    return is ? "add" : undefined;
  }

  /** Where that is not known, it does. */
  #isRelevant({ patch }: ViewChange): boolean {
    const { fields, map } = this.#options;
    if (fields === "*" || patch === undefined || map !== undefined) return true;
    const changed = JSON.parse(patch.toString()) as ViewObject;
    return fields.some((field) => Object.hasOwn(changed, field));
  }

  #encodeRemoval({ id, type }: ViewChange): Buffer {
    const data = { id, type, $subscription: this.name };
    return toEvent("remove", Buffer.from(JSON.stringify(data)));
  }

  #encodeData(change: ViewChange): Buffer {
    const { fields, map, name } = this.#options;
    if (fields === "*" && map === undefined) {
      const tail = `,"$subscription":${JSON.stringify(name)}}`;
      return Buffer.concat([change.json!.subarray(0, -1), Buffer.from(tail)]);
    }
    const object = map?.(objectOf(change)) ?? objectOf(change);
    const data = { ...pick(object, fields), $subscription: name };
    return Buffer.from(JSON.stringify(data));
  }
}

/** @param data JSON: it has no line ends */
export function toEvent(name: EventName, data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`event: ${name}\ndata: `),
    data,
    Buffer.from("\n\n"),
  ]);
}

/** Readers with the same wishes get the same bytes. */
const encodings = new WeakMap<ViewChange, Map<string, Buffer>>();

function encodedOnce(
  change: ViewChange,
  variant: string,
  encode: () => Buffer,
): Buffer {
  const byVariant = encodings.get(change) ?? new Map<string, Buffer>();
  encodings.set(change, byVariant);
  const bytes = byVariant.get(variant) ?? encode();
  byVariant.set(variant, bytes);
  return bytes;
}

const objects = new WeakMap<ViewChange, ViewObject>();

function objectOf(change: ViewChange): ViewObject {
  const object =
    objects.get(change) ?? (JSON.parse(change.json!.toString()) as ViewObject);
  objects.set(change, object);
  return object;
}
