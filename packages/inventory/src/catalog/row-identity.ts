import type { ClassContext } from "./class-context.js";

/** Id and type of the object that a row shows, read when they are needed. */
export class RowIdentity {
  readonly #context: Pick<ClassContext, "rows" | "types">;
  readonly #row: number;

  constructor(context: Pick<ClassContext, "rows" | "types">, row: number) {
    this.#context = context;
    this.#row = row;
  }

  get id(): string {
    return this.#context.rows.id(this.#row);
  }

  get type(): string {
    const { rows, types } = this.#context;
    return types[rows.type(this.#row)]!;
  }
}
