import type { Ref } from "@xo-server/model";
import type { Logger } from "@xo-server/xen-api";
import type { View, ViewObject, ViewSource } from "../views/view.js";
import { RecordedLinks, type LinkSources } from "./view-links.js";

/** A record on its way outside, made. */
export interface MadeView {
  readonly id: string;
  readonly type: string;
  readonly view: ViewObject;
}

/** Makes the objects of one class. What the last one has read stands in `links`. */
export class ViewMaker {
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

  /** @returns "gone" without a record, "hidden" for one that is not shown */
  make(pool: number, ref: Ref): MadeView | "gone" | "hidden" {
    const { inventory, pools } = this.#sources;
    const { className } = this.#view;
    this.links.begin(pool);
    const record = inventory.peek(pools.name(pool), className, ref);
    if (record === undefined) return "gone";
    const source = { ref, record, links: this.links };
    try {
      const id = this.#idOf(source);
      if (id === undefined || id === "") return "hidden";
      const made = {
        id,
        type: this.#view.typeOf(record),
        view: this.#view.build(source),
      };
      this.#addIdentity(made, source);
      return made;
    } catch (error) {
      this.#failed(error);
      return "hidden";
    }
  }

  #idOf(source: ViewSource): string | undefined {
    if (this.#view.idOf !== undefined) return this.#view.idOf(source);
    const { uuid } = source.record;
    return typeof uuid === "string" ? uuid : undefined;
  }

  /** What every object has (CONTRACT 3.1). */
  #addIdentity({ id, type, view }: MadeView, { ref, record }: ViewSource) {
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

  /** Views promise not to throw: once is worth a line, once per record would be a flood. */
  #failed(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#logger.error(`the view of ${this.#view.className} failed`, { error });
  }
}
