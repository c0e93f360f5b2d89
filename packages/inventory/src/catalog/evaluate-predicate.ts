import type { Predicate } from "../filter/predicate.js";
import { MemberPicker } from "./member-picker.js";

/** Number of results that are cached per predicate. */
const MAX_CACHED_RESULTS = 1024;

/** A predicate that reads only some members of an object. */
class MemberTest {
  readonly #test: Predicate;
  readonly #picker: MemberPicker;
  /**
   * By the JSON of the members. When almost every object differs, the cache
   * fills up soon and is then no longer extended.
   */
  readonly #results = new Map<string, boolean>();

  constructor(test: Predicate, fields: readonly string[]) {
    this.#test = test;
    this.#picker = new MemberPicker(fields);
  }

  evaluate(json: Buffer): boolean {
    const text = this.#picker.pickText(json);
    if (this.#results.size >= MAX_CACHED_RESULTS) return this.#evaluate(text);
    let result = this.#results.get(text);
    if (result === undefined) {
      result = this.#evaluate(text);
      this.#results.set(text, result);
    }
    return result;
  }

  #evaluate(text: string): boolean {
    return this.#test(JSON.parse(text));
  }
}

const memberTests = new WeakMap<Predicate, MemberTest>();

/**
 * Evaluates a predicate for an object in canonical JSON; parses only the
 * members that the predicate reads (`Predicate.fields`).
 */
export function evaluatePredicate(test: Predicate, json: Buffer): boolean {
  const { fields } = test;
  if (fields === undefined) return test(JSON.parse(json.toString()));
  const cached = memberTests.get(test);
  if (cached !== undefined) return cached.evaluate(json);
  const created = new MemberTest(test, fields);
  memberTests.set(test, created);
  return created.evaluate(json);
}
