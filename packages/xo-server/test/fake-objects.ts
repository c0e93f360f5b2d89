import { loaded } from "../src/objects/missing-object.js";
import {
  compileFilter,
  parseFilter,
  type CatalogEntry,
  type Frame,
  type PageRequest,
  type Page,
  type ViewChange,
  type ViewChangeKind,
  type ViewObject,
} from "@xo-server/inventory";
import type { RestApiOptions } from "../src/api/rest/rest-api.js";

export interface FakeObject extends ViewObject {
  readonly id: string;
  readonly type: string;
}

/** Objects in memory, asked and followed as those of the catalog are; questions are answered in the plainest way. */
export class FakeObjects {
  readonly #objects = new Map<string, FakeObject>();
  readonly #listeners = new Set<(frame: Frame) => void>();
  /** Pages that were asked for. */
  readonly asked: PageRequest[] = [];
  #revision = 0;

  constructor(objects: readonly FakeObject[] = []) {
    for (const object of objects) this.#objects.set(object.id, object);
  }

  /** @param patch RFC 7386, where it is known */
  set(object: FakeObject, patch?: ViewObject): void {
    const kind = this.#objects.has(object.id) ? "update" : "add";
    this.#objects.set(object.id, object);
    this.#notify(object, kind, patch);
  }

  remove(id: string): void {
    const object = this.#objects.get(id)!;
    this.#objects.delete(id);
    this.#notify(object, "remove");
  }

  /** What the API accepts. */
  get views(): RestApiOptions["objects"] {
    const fake = {
      catalog: {
        get: (id: string) => this.#find(id),
        poolOf: (id: string) => this.#find(id)?.pool,
        classOf: (type: string) =>
          /^[A-Za-z-]+$/.test(type) ? type : undefined,
        follow: async () => undefined,
        feed: {
          subscribe: (listener: (frame: Frame) => void) => {
            this.#listeners.add(listener);
            return () => this.#listeners.delete(listener);
          },
        },
      },
      queries: {
        page: (request: PageRequest) => this.#page(request),
        count: async (request: PageRequest) =>
          (await this.#page(request)).total,
      },
      loadedPools: loaded,
    };
    return fake as unknown as RestApiOptions["objects"];
  }

  #find(id: string): CatalogEntry | undefined {
    const object =
      this.#objects.get(id) ??
      [...this.#objects.values()].find((one) => one["_xapiRef"] === id);
    return object && { ...object, pool: "p", json: encode(object) };
  }

  async #page(request: PageRequest): Promise<Page> {
    this.asked.push(request);
    const {
      type,
      filter = "",
      where,
      limit = Infinity,
      after,
      fields,
    } = request;
    const test = compileFilter(parseFilter(filter));
    const all = [...this.#objects.values()]
      .filter((one) => one.type === type && test(one))
      .filter((one) => where?.(one) ?? true)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const left = all.filter(({ id }) => after === undefined || id > after);
    const shown = left.slice(0, limit);
    return {
      ids: shown.map(({ id }) => id),
      rows: shown.map((one) => encode(pick(one, fields))),
      total: all.length,
      revision: this.#revision,
      ...(left.length > shown.length ? { next: shown.at(-1)!.id } : {}),
    };
  }

  #notify(object: FakeObject, kind: ViewChangeKind, patch?: ViewObject): void {
    const { id, type } = object;
    const change: ViewChange = {
      row: 0,
      id,
      type,
      pool: "p",
      kind,
      ...(kind === "remove" ? {} : { json: encode(object) }),
      ...(patch === undefined ? {} : { patch: encode(patch) }),
    };
    const revision = ++this.#revision;
    for (const listener of this.#listeners)
      listener({
        className: type,
        first: revision,
        last: revision,
        changes: [change],
        summaries: new Map([[type, { count: 0, digest: { high: 0, low: 0 } }]]),
        byteLength: 0,
        encoded: (_encoding, encodeFrame) =>
          encodeFrame(undefined as unknown as Frame),
      });
  }
}

function encode(object: object): Buffer {
  return Buffer.from(JSON.stringify(object));
}

function pick(object: ViewObject, fields?: readonly string[]): object {
  return fields === undefined
    ? object
    : Object.fromEntries(
        Object.entries(object).filter(([key]) => fields.includes(key)),
      );
}
