import type { Origin } from "../origin.js";
import type { LazyBytes } from "../rpc/answer.js";
import { Table } from "../table.js";
import { PoolTransform } from "./pool-transform.js";
import { DerivedListing } from "./derived-listing.js";
import type { TemplatePool } from "./template-pool.js";

/** One pool of a fleet: the template, transformed for this pool. Stores nothing itself. */
export class DerivedPool implements Origin {
  readonly #template: TemplatePool;
  readonly #transform: PoolTransform;

  /** @param number of the pool, from 0 */
  constructor(template: TemplatePool, number: number) {
    this.#template = template;
    this.#transform = new PoolTransform(number);
  }

  count(className: string): number {
    return this.#template.class(className).count;
  }

  *refs(className: string): Generator<string> {
    for (const ref of this.#template.class(className).refs)
      yield this.#transform.id(ref);
  }

  refByUuid(className: string, uuid: string): string | undefined {
    const source = this.#template.class(className);
    const index = source.indexOfUuid(this.#transform.id(uuid));
    return index < 0 ? undefined : this.#transform.id(source.refs[index]!);
  }

  json(className: string, ref: string): Buffer | undefined {
    const source = this.#template.class(className);
    const index = source.indexOf(this.#transform.id(ref));
    return index < 0 ? undefined : source.record(index, this.#transform);
  }

  listing(table: Table): LazyBytes {
    const source = this.#template.class(table.className);
    return new DerivedListing(source, this.#transform, table);
  }

  /** The listing of a class of which nothing has changed. */
  wholeListing(className: string): LazyBytes {
    return this.listing(new Table(className));
  }
}
