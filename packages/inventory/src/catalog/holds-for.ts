import type { Predicate } from "../filter/predicate.js";
import { MemberPicker } from "./member-picker.js";

/** Of a test, so many different things that it looked at are remembered with its answers. */
const MOST_ANSWERS = 1024;

/** A test that looks at some members only. */
class MemberTest {
  readonly #test: Predicate;
  readonly #picker: MemberPicker;
  /** By what the members say. Where hardly two objects say the same, it is full soon, and let be. */
  readonly #answers = new Map<string, boolean>();

  constructor(test: Predicate, fields: readonly string[]) {
    this.#test = test;
    this.#picker = new MemberPicker(fields);
  }

  holdsFor(json: Buffer): boolean {
    const text = this.#picker.pickText(json);
    if (this.#answers.size >= MOST_ANSWERS) return this.#ask(text);
    let answer = this.#answers.get(text);
    if (answer === undefined) {
      answer = this.#ask(text);
      this.#answers.set(text, answer);
    }
    return answer;
  }

  #ask(text: string): boolean {
    return this.#test(JSON.parse(text));
  }
}

const memberTests = new WeakMap<Predicate, MemberTest>();

/** Asks a test of an object in canonical JSON, of which no more is read than the test looks at. */
export function holdsFor(test: Predicate, json: Buffer): boolean {
  const { fields } = test;
  if (fields === undefined) return test(JSON.parse(json.toString()));
  const known = memberTests.get(test);
  if (known !== undefined) return known.holdsFor(json);
  const made = new MemberTest(test, fields);
  memberTests.set(test, made);
  return made.holdsFor(json);
}
