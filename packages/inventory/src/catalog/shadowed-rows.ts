/**
 * Rows that are not shown because another row has the same id: an SR shared by
 * two pools. Few.
 */
export class ShadowedRows {
  readonly #byId = new Map<string, number[]>();

  add(id: string, row: number): void {
    const rows = this.#byId.get(id);
    if (rows === undefined) this.#byId.set(id, [row]);
    else rows.push(row);
  }

  remove(id: string, row: number): void {
    const rows = this.#byId.get(id)?.filter((one) => one !== row) ?? [];
    if (rows.length === 0) this.#byId.delete(id);
    else this.#byId.set(id, rows);
  }

  /** The row that was shadowed first. */
  firstOf(id: string): number | undefined {
    return this.#byId.get(id)?.[0];
  }
}
