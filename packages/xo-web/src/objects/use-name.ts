import {
  computed,
  provide,
  shallowReactive,
  watchEffect,
  type ComputedRef,
  type InjectionKey,
} from "vue";
import { isObject } from "@xo-server/kit";
import { plainName } from "../api/plain-name.js";
import type { Call } from "../api/server-connection.js";
import { injectRequired } from "../injection.js";

const MAX_NAMES = 5_000;
const MAX_IDS_PER_CALL = 1_000;

/**
 * Names of objects by id, for mentions of objects. A name is requested once and not
 * updated. Above MAX_NAMES the oldest are evicted.
 */
export class ObjectNames {
  readonly #call: Call;
  readonly #names = shallowReactive(new Map<string, string>());
  /** Type and id of requested objects that do not exist, or that the user may not see. */
  readonly #hidden = shallowReactive(new Set<string>());
  /** Type and id of objects whose names could not be requested. */
  readonly #failed = shallowReactive(new Set<string>());
  /** Ids by type, for the next request. */
  #pending = new Map<string, Set<string>>();

  constructor(call: Call) {
    this.#call = call;
  }

  get(id: string): string | undefined {
    return this.#names.get(id);
  }

  isHidden(type: string, id: string): boolean {
    return this.#hidden.has(keyOf(type, id));
  }

  /** It is being requested. */
  isPending(type: string, id: string): boolean {
    const key = keyOf(type, id);
    return (
      !this.#names.has(id) && !this.#hidden.has(key) && !this.#failed.has(key)
    );
  }

  /** Sets a name that is known already. */
  set(id: string, name: string): void {
    const plain = plainName(name);
    if (this.#names.get(id) === plain) return;
    this.#names.delete(id);
    this.#names.set(id, plain);
    for (const oldest of this.#names.keys()) {
      if (this.#names.size <= MAX_NAMES) break;
      this.#names.delete(oldest);
    }
  }

  /** Names that are requested in the same turn of the event loop are one call per type. */
  request(type: string, id: string): void {
    if (this.#names.has(id)) return;
    if (this.#pending.size === 0)
      setTimeout(() => {
        const pending = this.#pending;
        this.#pending = new Map();
        for (const [type, ids] of pending) void this.#read(type, [...ids]);
      });
    const ids = this.#pending.get(type) ?? new Set();
    this.#pending.set(type, ids.add(id));
  }

  async #read(type: string, ids: string[]): Promise<void> {
    const some = ids.splice(0, MAX_IDS_PER_CALL);
    const answer = await this.#call("query.page", {
      type,
      ids: some,
      fields: ["id", "name_label"],
      limit: some.length,
      // Without an answer the ids are shown.
    }).catch(() => null);
    const rows = isObject(answer) ? answer["rows"] : undefined;
    const left = new Set(some);
    for (const row of Array.isArray(rows) ? rows : []) {
      const { id, name_label } = isObject(row) ? row : {};
      if (typeof id !== "string") continue;
      if (typeof name_label === "string") this.set(id, name_label);
      this.#hidden.delete(keyOf(type, id));
      left.delete(id);
    }
    const unknown = Array.isArray(rows) ? this.#hidden : this.#failed;
    for (const id of left) unknown.add(keyOf(type, id));
    if (ids.length > 0) await this.#read(type, ids);
  }
}

function keyOf(type: string, id: string): string {
  return `${type} ${id}`;
}

const key: InjectionKey<ObjectNames> = Symbol("object names");

/** To be called in the root component. */
export function provideNames(call: Call): void {
  provide(key, new ObjectNames(call));
}

/** Names of objects, requested together and cached. */
export function useNames(): ObjectNames {
  return injectRequired(key);
}

/** Requests the name of a mentioned object, unless it is known. @param id undefined: none */
export function useRequestedName(
  type: () => string,
  id: () => string | undefined,
): void {
  const names = useNames();
  watchEffect(() => {
    const mentioned = id();
    if (mentioned !== undefined) names.request(type(), mentioned);
  });
}

/** The name of a mentioned object. @param id undefined: none */
export function useName(
  type: () => string,
  id: () => string | undefined,
): ComputedRef<string | undefined> {
  const names = useNames();
  useRequestedName(type, id);
  return computed(() => {
    const mentioned = id();
    return mentioned === undefined ? undefined : names.get(mentioned);
  });
}
