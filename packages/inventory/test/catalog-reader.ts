import { applyMergePatch } from "@xo-server/kit";
import {
  addDigest,
  canonicalJson,
  digestOf,
  digestToText,
  EMPTY_DIGEST,
  type Catalog,
  type Digest,
  type FeedCursor,
  type Frame,
  type ViewTable,
} from "@xo-server/inventory";

/** A client as it should be: a snapshot, then frames, with patches where there are any. */
export class CatalogReader {
  /** Objects by type and id. */
  readonly copy = new Map<string, unknown>();
  readonly problems: string[] = [];
  resyncs = 0;
  patches = 0;
  readonly #catalog: Catalog;
  #cursor: FeedCursor = { feedId: "", revision: 0 };

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Catches up, from a snapshot where the feed does not reach back so far. */
  catchUp(): void {
    const frames = this.#catalog.feed.since(this.#cursor);
    if (frames === "resync") this.#readAll();
    else for (const frame of frames) this.apply(frame);
  }

  #readAll(): void {
    this.resyncs++;
    const { feedId, revision } = this.#catalog.feed;
    this.#cursor = { feedId, revision };
    this.copy.clear();
    for (const table of this.#catalog.tables.values())
      for (let row = 0; row < table.rows; row++)
        if (table.isLive(row))
          this.copy.set(
            `${table.type(row)} ${table.id(row)}`,
            JSON.parse(table.json(row).toString()),
          );
  }

  apply(frame: Frame): void {
    const { feedId, revision } = this.#cursor;
    if (frame.last <= revision) this.problems.push("a frame came twice");
    if (frame.last - frame.first + 1 !== frame.changes.length)
      this.problems.push("revisions and changes differ in number");
    this.#cursor = { feedId, revision: frame.last };
    for (const { type, id, kind, json, patch } of frame.changes) {
      const key = `${type} ${id}`;
      const known = this.copy.get(key);
      if (kind === "remove") this.copy.delete(key);
      else if (patch !== undefined && known !== undefined) {
        this.patches++;
        // applyMergePatch returns objects without a prototype.
        const patched = applyMergePatch(known, JSON.parse(patch.toString()));
        this.copy.set(key, JSON.parse(JSON.stringify(patched)));
      } else this.copy.set(key, JSON.parse(json!.toString()));
    }
  }

  /** As the reader computes it from its copy. */
  digest(type: string): string {
    let digest: Digest = EMPTY_DIGEST;
    for (const [key, object] of this.copy)
      if (key.startsWith(`${type} `))
        digest = addDigest(
          digest,
          digestOf(Buffer.from(canonicalJson(object))),
        );
    return digestToText(digest);
  }
}

/** The objects of a table by type and id, parsed. */
export function objectsOf(table: ViewTable): Map<string, unknown> {
  const objects = new Map<string, unknown>();
  for (let row = 0; row < table.rows; row++)
    if (table.isLive(row))
      objects.set(
        `${table.type(row)} ${table.id(row)}`,
        JSON.parse(table.json(row).toString()),
      );
  return objects;
}
