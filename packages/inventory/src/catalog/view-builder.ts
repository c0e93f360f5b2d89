import type { Ref } from "@xo-server/model";
import type { Logger } from "@xo-server/kit";
import type { View, ViewObject, ViewSource } from "../views/view.js";
import { RecordedLinks, type LinkSources } from "./view-links.js";

/** The view of a record. */
export interface BuiltView {
  readonly id: string;
  readonly type: string;
  readonly view: ViewObject;
}

/** Builds the views of one class. What the last one has read is in `links`. */
export class ViewBuilder {
  readonly links: RecordedLinks;
  readonly #view: View;
  readonly #sources: LinkSources;
  readonly #logger: Pick<Logger, "error">;
  #hasFailed = false;

  constructor(view: View, sources: LinkSources, logger: Pick<Logger, "error">) {
    this.links = new RecordedLinks(sources);
    this.#view = view;
    this.#sources = sources;
    this.#logger = logger;
  }

  /**
   * @returns "missing" when the record does not exist, "hidden" when it is not
   *   shown
   */
  build(pool: number, ref: Ref): BuiltView | "missing" | "hidden" {
    const { inventory, pools } = this.#sources;
    const { className } = this.#view;
    this.links.begin(pool);
    const record = inventory.peek(pools.name(pool), className, ref);
    if (record === undefined) return "missing";
    const source = { ref, record, links: this.links };
    try {
      const id = this.#idOf(source);
      if (id === undefined || id === "") return "hidden";
      const built = {
        id,
        type: this.#view.typeOf(record),
        view: this.#view.build(source),
      };
      this.#addIdentity(built, source);
      return built;
    } catch (error) {
      this.#logFirstFailure(error);
      return "hidden";
    }
  }

  #idOf(source: ViewSource): string | undefined {
    if (this.#view.idOf !== undefined) return this.#view.idOf(source);
    const { uuid } = source.record;
    return typeof uuid === "string" ? uuid : undefined;
  }

  /** Adds the fields that every object has. */
  #addIdentity({ id, type, view }: BuiltView, { ref, record }: ViewSource) {
    const { poolId } = this.links;
    view["id"] = id;
    view["type"] = type;
    const { uuid } = record;
    if (typeof uuid === "string") view["uuid"] = uuid;
    if (poolId !== undefined) {
      view["$pool"] = poolId;
      view["$poolId"] = poolId;
    }
    view["_xapiRef"] = ref;
  }

  /**
   * Views must not throw. A failure is logged once per class, not once per
   * record.
   */
  #logFirstFailure(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#logger.error(`the view of ${this.#view.className} failed`, { error });
  }
}
