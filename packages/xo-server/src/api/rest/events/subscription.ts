import type { ViewChange, ViewObject } from "@xo-server/inventory";
import type { ChangeEncodings } from "./change-encodings.js";
import { pick } from "../collections/collection-pages.js";

type EventName = "add" | "update" | "remove";

export interface SubscriptionOptions {
  /** Shared by all subscriptions. */
  readonly encodings: ChangeEncodings;
  /** The name in the request: a type, or `alarm`. */
  readonly name: string;
  /** Type of the objects in the catalog. */
  readonly type: string;
  readonly fields: readonly string[] | "*";
  /** Selects objects of the type; absent: all. */
  readonly accepts?: (object: ViewObject) => boolean;
  /** Converts an object; absent: unchanged. */
  readonly map?: (object: ViewObject) => ViewObject;
}

/** Events of one stream for the objects of one type. */
export class Subscription {
  readonly name: string;
  readonly type: string;
  readonly #options: SubscriptionOptions;
  readonly #variant: string;
  /**
   * Ids that the client knows. Undefined: not tracked, because the subscription
   * accepts all objects.
   */
  readonly #known: Set<string> | undefined;

  constructor(options: SubscriptionOptions) {
    this.name = options.name;
    this.type = options.type;
    this.#options = options;
    this.#variant = JSON.stringify([options.name, options.fields]);
    this.#known = options.accepts === undefined ? undefined : new Set();
  }

  /** The client may have read this object before. */
  addKnown(id: string): void {
    this.#known?.add(id);
  }

  /** Encodes a change as an event; undefined: not relevant for this client. */
  encode(change: ViewChange): Buffer | undefined {
    const name = this.#eventOf(change);
    if (name === undefined) return undefined;
    if (name === "remove") return this.#encodeRemoval(change);
    if (name === "update" && !this.#isRelevant(change)) return undefined;
    return this.#options.encodings.encode(
      change,
      `${name} ${this.#variant}`,
      () => toEvent(name, this.#encodeData(change)),
    );
  }

  #eventOf(change: ViewChange): EventName | undefined {
    const known = this.#known;
    if (known === undefined) return change.kind;
    const was = known.has(change.id);
    const is =
      change.kind !== "remove" &&
      this.#options.accepts!(this.#options.encodings.objectOf(change));
    if (is) known.add(change.id);
    else known.delete(change.id);
    if (was) return is ? "update" : "remove";
    return is ? "add" : undefined;
  }

  /** Whether a requested field has changed; true if unknown. */
  #isRelevant({ patch }: ViewChange): boolean {
    const { fields, map } = this.#options;
    if (fields === "*" || patch === undefined || map !== undefined) return true;
    const changed = JSON.parse(patch.toString()) as ViewObject;
    return fields.some((field) => Object.hasOwn(changed, field));
  }

  #encodeRemoval({ id, type }: ViewChange): Buffer {
    const data = { $subscription: this.name, id, type };
    return toEvent("remove", Buffer.from(JSON.stringify(data)));
  }

  #encodeData(change: ViewChange): Buffer {
    const { fields, map, name } = this.#options;
    if (fields === "*" && map === undefined) {
      // `$subscription` is the first member, as in Xen Orchestra.
      const start = `{"$subscription":${JSON.stringify(name)},`;
      return Buffer.concat([Buffer.from(start), change.json!.subarray(1)]);
    }
    const object =
      map?.(this.#options.encodings.objectOf(change)) ??
      this.#options.encodings.objectOf(change);
    const data = { $subscription: name, ...pick(object, fields) };
    return Buffer.from(JSON.stringify(data));
  }
}

/** @param data JSON, without line breaks */
export function toEvent(name: EventName, data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`event: ${name}\ndata: `),
    data,
    Buffer.from("\n\n"),
  ]);
}
