import { NULL_REF } from "@xo-server/model";
import { toDatetime } from "../clock.js";
import { defaultRecord } from "../field-type.js";
import { linksOf, type Link } from "../relations.js";
import type { XapiValue } from "../xapi-value.js";
import { createSeededRandom, type SeededRandom } from "./seeded-random.js";

export type FleetFields = Record<string, XapiValue>;

/** An object in the making: its record may still be written to. */
export interface DraftObject {
  readonly className: string;
  readonly ref: string;
  readonly record: FleetFields;
}

/** Collects the objects of a pool and, at the end, makes both sides of each relation agree. */
export class FleetBuilder {
  readonly random: SeededRandom;
  /** The moment of the fleet, Unix seconds. */
  readonly now: number;
  readonly #objects: DraftObject[] = [];
  readonly #byRef = new Map<string, DraftObject>();

  constructor(seed: string, now: number) {
    this.random = createSeededRandom(seed);
    this.now = now;
  }

  /** Adds an object: the class's defaults with `fields` over them. Of a relation give one side, the single reference. */
  add(className: string, fields: FleetFields, ref?: string): DraftObject {
    const uuid = this.random.uuid();
    const record = { ...defaultRecord(className), uuid, ...fields };
    const object = { className, ref: ref ?? this.random.ref(), record };
    this.#objects.push(object);
    this.#byRef.set(object.ref, object);
    return object;
  }

  get(ref: string): DraftObject {
    const object = this.#byRef.get(ref);
    if (object === undefined) throw new Error(`dangling reference ${ref}`);
    return object;
  }

  /** The datetime `seconds` before the fleet's moment. */
  ago(seconds: number): string {
    return toDatetime((this.now - seconds) * 1000);
  }

  /** All objects, with the relations' other sides filled in. */
  finish(): readonly DraftObject[] {
    const own = new Set<readonly XapiValue[]>();
    for (const object of this.#objects)
      for (const link of linksOf(object.className))
        for (const target of refsIn(object.record[link.field]))
          this.#link(target, link, object.ref, own);
    return this.#objects;
  }

  /** `own`: arrays created in this pass, which may be changed. */
  #link(
    target: string,
    { otherField }: Link,
    ref: string,
    own: Set<readonly XapiValue[]>,
  ): void {
    const object = this.get(target);
    const members = object.record[otherField] as XapiValue[];
    if (own.has(members)) members.push(ref);
    else if (!members.includes(ref)) {
      const copy = [...members, ref];
      own.add(copy);
      object.record[otherField] = copy;
    }
  }
}

function refsIn(value: XapiValue | undefined): readonly string[] {
  if (typeof value === "string") return value === NULL_REF ? [] : [value];
  return value as readonly string[];
}
