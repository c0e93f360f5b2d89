import { isObject } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";

/** An operation on an object. */
export interface Question {
  readonly method: string;
  /** The parameter that names the object; default: `id`. */
  readonly idParameter?: string;
}

/** Bounds of one call of operation.listAllowed. */
const MAX_IDS = 500;
const MAX_METHODS = 200;
/** Above this number of answers the oldest are evicted. */
const MAX_ANSWERS = 100_000;

/**
 * The rights of the user on objects, as far as requested. Requests of the same turn of the event
 * loop are one call. Rights are requested again after `clear`.
 */
export class AllowedOperations {
  readonly #call: Call;
  readonly #onAnswer: () => void;
  readonly #answers = new Map<string, boolean>();
  readonly #requested = new Set<string>();
  #pending = new Map<string, { question: Question; ids: Set<string> }>();
  /** Answers to earlier questions are dropped after `clear`. */
  #generation = 0;

  /** @param onAnswer called when `get` has new answers */
  constructor(call: Call, onAnswer: () => void) {
    this.#call = call;
    this.#onAnswer = onAnswer;
  }

  /** @returns undefined: not known yet; requested */
  get(
    { method, idParameter = "id" }: Question,
    id: string,
  ): boolean | undefined {
    const key = keyOf(method, id);
    const known = this.#answers.get(key);
    if (known !== undefined || this.#requested.has(key)) return known;
    this.#requested.add(key);
    if (this.#pending.size === 0) queueMicrotask(() => void this.#request());
    const about = `${method} ${idParameter}`;
    const question = { method, idParameter };
    const pending = this.#pending.get(about) ?? { question, ids: new Set() };
    this.#pending.set(about, pending);
    pending.ids.add(id);
    return undefined;
  }

  /** Clears the cache for another user or connection. */
  clear(): void {
    this.#generation++;
    this.#answers.clear();
    this.#requested.clear();
    this.#pending.clear();
  }

  async #request(): Promise<void> {
    const pending = [...this.#pending.values()];
    this.#pending = new Map();
    const generation = this.#generation;
    // Questions about the same objects are one call.
    const byIds = new Map<string, { ids: string[]; questions: Question[] }>();
    for (const { question, ids } of pending) {
      const key = [...ids].join(" ");
      const group = byIds.get(key) ?? { ids: [...ids], questions: [] };
      byIds.set(key, group);
      group.questions.push(question);
    }
    for (const { ids, questions } of byIds.values())
      for (let i = 0; i < ids.length; i += MAX_IDS)
        for (let j = 0; j < questions.length; j += MAX_METHODS) {
          const some = ids.slice(i, i + MAX_IDS);
          const operations = questions.slice(j, j + MAX_METHODS);
          const allowed = await this.#read(some, operations);
          if (generation !== this.#generation) return;
          this.#keep(some, operations, allowed);
        }
    this.#onAnswer();
  }

  async #read(
    ids: readonly string[],
    questions: readonly Question[],
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const operations = questions.map(({ method, idParameter = "id" }) => ({
      method,
      idParameter,
    }));
    const params = { ids: [...ids], operations };
    // Without an answer all operations are offered; the server decides.
    const answer = await this.#call("operation.listAllowed", params).catch(
      () => undefined,
    );
    return isObject(answer) ? answer : undefined;
  }

  /**
   * @param allowed undefined: the server has no information; the operation
   *   itself checks
   */
  #keep(
    ids: readonly string[],
    questions: readonly Question[],
    allowed: Readonly<Record<string, unknown>> | undefined,
  ): void {
    for (const id of ids) {
      const methods = allowed?.[id];
      for (const { method } of questions)
        this.#answers.set(
          keyOf(method, id),
          !Array.isArray(methods) || methods.includes(method),
        );
    }
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
      this.#requested.delete(oldest);
    }
  }
}

function keyOf(method: string, id: string): string {
  return `${method} ${id}`;
}
