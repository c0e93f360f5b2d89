import { shallowRef, watch, type ShallowRef } from "vue";
import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import { useServer } from "../live/use-server.js";
import { useNames, type ObjectNames } from "../objects/use-name.js";
import type { KnownValue } from "./completion.js";
import type { Property } from "./properties.js";

interface ValueQuestion {
  readonly type: string;
  readonly property: Property;
  readonly typed: string;
}

/** Time for which a response is cached, and the delay between typing and a request, in ms. */
const FRESH_MS = 20_000;
const PAUSE_MS = 80;
const MAX_OBJECTS = 30;
/** Maximum number of distinct values that are proposed. */
const MAX_GROUPS = 2_000;
const MAX_ANSWERS = 100;

/** Values that existing objects have, for completion; empty until they are loaded. */
export function useKnownValues(
  question: () => ValueQuestion | undefined,
): ShallowRef<readonly KnownValue[]> {
  const { call } = useServer();
  const names = useNames();
  const answers = new AnswerCache();
  const values = shallowRef<readonly KnownValue[]>([]);
  watch(question, (requested, before, onCleanup) => {
    const key = requested && keyOf(requested);
    if (key !== (before && keyOf(before))) values.value = [];
    if (requested === undefined || key === undefined) return;
    const known = answers.get(key);
    if (known !== undefined) {
      values.value = known;
      return;
    }
    let isCurrent = true;
    const timer = setTimeout(() => {
      void read(call, requested, names).then((found) => {
        answers.set(key, found);
        if (isCurrent) values.value = found;
      });
    }, PAUSE_MS);
    onCleanup(() => {
      isCurrent = false;
      clearTimeout(timer);
    });
  });
  return values;
}

/** Responses by request, for FRESH_MS. */
class AnswerCache {
  readonly #answers = new Map<
    string,
    { readonly at: number; readonly values: readonly KnownValue[] }
  >();

  get(key: string): readonly KnownValue[] | undefined {
    const answer = this.#answers.get(key);
    const isFresh =
      answer !== undefined && performance.now() - answer.at < FRESH_MS;
    return isFresh ? answer.values : undefined;
  }

  set(key: string, values: readonly KnownValue[]): void {
    this.#answers.delete(key);
    this.#answers.set(key, { at: performance.now(), values });
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
    }
  }
}

/**
 * The typed text is part of the request only if the server searches for it;
 * undefined: no request.
 */
function keyOf({ type, property, typed }: ValueQuestion): string | undefined {
  if (property.of !== undefined) return `${property.of} ${typed}`;
  const isCounted = property.isGrouped === true || property.kind === "choice";
  return isCounted ? `${type} by ${property.path}` : undefined;
}

async function read(
  call: Call,
  { type, property, typed }: ValueQuestion,
  names: ObjectNames,
): Promise<readonly KnownValue[]> {
  try {
    return property.of === undefined
      ? toGroups(await call("query.group", { type, by: property.path }))
      : toObjects(await searchObjects(call, property.of, typed), names);
  } catch {
    // Completion is optional: without a response nothing is proposed.
    return [];
  }
}

function searchObjects(call: Call, type: string, typed: string): Promise<Json> {
  const search = typed.trim() === "" ? {} : { search: typed };
  const fields = ["id", "name_label"];
  return call("query.page", { type, ...search, fields, limit: MAX_OBJECTS });
}

function toGroups(answer: Json): KnownValue[] {
  if (!Array.isArray(answer) || answer.length > MAX_GROUPS) return [];
  return answer
    .filter(isObject)
    .map(({ key, count }) => ({ value: key, count: Number(count) }))
    .filter(
      (group): group is { value: string; count: number } =>
        typeof group.value === "string" && group.value !== "",
    )
    .sort((one, other) => other.count - one.count);
}

function toObjects(answer: Json, names: ObjectNames): KnownValue[] {
  const rows = isObject(answer) ? answer["rows"] : undefined;
  return (Array.isArray(rows) ? rows : []).filter(isObject).flatMap((row) => {
    const { id, name_label } = row;
    if (typeof id !== "string" || typeof name_label !== "string") return [];
    names.set(id, name_label);
    return [{ value: id, label: name_label }];
  });
}
