import type { Ref } from "@xo-server/model";
import type { Logger } from "@xo-server/kit";
import type { XapiRecord } from "../store/record-rows.js";
import type { StoredObject } from "../store/stored-object.js";
import type { View, ViewObject, ViewSource } from "../views/view.js";
import { LazyRecords } from "./lazy-records.js";
import { RowReader } from "./row-reader.js";
import { RecordedLinks, type LinkSources } from "./view-links.js";

/** The view of a record. */
export interface BuiltView {
  readonly id: string;
  readonly type: string;
  readonly view: ViewObject;
}

/** "missing": the record does not exist; "hidden": it is not shown to clients. */
type Absent = "missing" | "hidden";

interface ViewBuilderOptions {
  readonly logger: Pick<Logger, "error">;
  /** For reading single properties: parses only the fields that are read. */
  readonly isLazy?: boolean;
}

/** Builds the views of one class. `links` contains the dependencies of the last view. */
export class ViewBuilder {
  readonly links: RecordedLinks;
  readonly #view: View;
  readonly #sources: LinkSources;
  readonly #logger: Pick<Logger, "error">;
  readonly #lazyRecords: LazyRecords | undefined;
  #hasFailed = false;

  constructor(view: View, sources: LinkSources, options: ViewBuilderOptions) {
    const isLazy = options.isLazy === true && view.properties !== undefined;
    this.#lazyRecords = isLazy ? new LazyRecords(sources.inventory) : undefined;
    this.links = new RecordedLinks(sources, this.#lazyRecords);
    this.#view = view;
    this.#sources = sources;
    this.#logger = options.logger;
  }

  build(pool: number, ref: Ref): BuiltView | Absent {
    const reader = this.open(pool, ref);
    if (typeof reader === "string") return reader;
    const { id, type } = reader;
    const view = this.attempt(() => reader.object());
    return view === undefined ? "hidden" : { id, type, view };
  }

  /** Identifies the object. It can be read until the next call. */
  open(pool: number, ref: Ref): RowReader | Absent {
    const record = this.#find(pool, ref);
    return record === undefined ? "missing" : this.#identify(pool, ref, record);
  }

  /** Like `open`, without looking the object up. */
  openObject(pool: number, object: StoredObject): RowReader | Absent {
    if (this.#lazyRecords === undefined) return this.open(pool, object.ref);
    return this.#identify(pool, object.ref, this.#lazyRecords.of(object));
  }

  #identify(pool: number, ref: Ref, record: XapiRecord): RowReader | "hidden" {
    this.links.begin(pool);
    const source = { ref, record, links: this.links };
    const view = this.#view;
    const reader = this.attempt(() => {
      const id = this.#idOf(source);
      return id === undefined || id === ""
        ? undefined
        : new RowReader(view, source, { id, type: view.typeOf(record) });
    });
    return reader ?? "hidden";
  }

  /**
   * Opens the object of a row that is up to date, whose id and type are known.
   * It can be read until the next call.
   */
  openKnown(
    pool: number,
    ref: Ref,
    identity: { readonly id: string; readonly type: string },
  ): RowReader | "missing" {
    this.links.begin(pool);
    const record = this.#find(pool, ref);
    if (record === undefined) return "missing";
    const source = { ref, record, links: this.links };
    return new RowReader(this.#view, source, identity);
  }

  /**
   * Views must not throw. A failure is logged once per class, not once per
   * record.
   * @returns undefined after a failure
   */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!this.#hasFailed)
        this.#logger.error(`the view of ${this.#view.className} failed`, {
          error,
        });
      this.#hasFailed = true;
      return undefined;
    }
  }

  #find(pool: number, ref: Ref): XapiRecord | undefined {
    const { inventory, pools } = this.#sources;
    const { className } = this.#view;
    const poolId = pools.name(pool);
    return this.#lazyRecords === undefined
      ? inventory.peek(poolId, className, ref)
      : this.#lazyRecords.find(poolId, className, ref);
  }

  #idOf(source: ViewSource): string | undefined {
    if (this.#view.idOf !== undefined) return this.#view.idOf(source);
    const { uuid } = source.record;
    return typeof uuid === "string" ? uuid : undefined;
  }
}
