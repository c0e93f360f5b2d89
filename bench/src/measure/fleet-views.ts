import {
  createCatalog,
  createQueries,
  type Catalog,
  type Frame,
  type Inventory,
  type LiveUpdate,
} from "@xo-server/inventory";
import { percentile } from "../harness/figures.js";
import { fleetQueries } from "./fleet-queries.js";

/** Classes that a server with an open page follows. */
const FOLLOWED = [
  "pool",
  "host",
  "VM",
  "SR",
  "network",
  "VIF",
  "VBD",
  "VDI",
  "PBD",
  "PIF",
  "task",
];

const MARK = Buffer.from('"sim:changed_at":"');
const QUOTE = 0x22;

/** The views of the usual classes, and what one reader of their feed would get. */
export class FleetViews {
  readonly catalog: Catalog;
  #bytes = 0;
  #frames = 0;
  #changes = 0;
  #builtBefore = 0;
  #unchangedBefore = 0;
  #updates = 0;
  #updateBytes = 0;
  #latencies: number[] = [];

  constructor(inventory: Inventory) {
    this.catalog = createCatalog(inventory);
    this.catalog.feed.subscribe((frame) => {
      this.#note(frame);
    });
  }

  async follow(): Promise<void> {
    for (const className of FOLLOWED) await this.catalog.follow(className);
  }

  /** @returns times until the first results, in milliseconds */
  async openLiveQueries(): Promise<readonly number[]> {
    const queries = createQueries(this.catalog);
    const times: number[] = [];
    for (const request of fleetQueries) {
      const start = performance.now();
      await queries.live(request, (update) => {
        this.#noteUpdate(update);
      });
      times.push(performance.now() - start);
    }
    return times;
  }

  restart(): void {
    this.#bytes = this.#frames = this.#changes = 0;
    this.#updates = this.#updateBytes = 0;
    this.#latencies = [];
    const { built, unchanged } = this.catalog.stats;
    this.#builtBefore = built;
    this.#unchangedBefore = unchanged;
  }

  /** Since the last restart, `seconds` ago. */
  figures(seconds: number): Record<string, number> {
    const { built, unchanged } = this.catalog.stats;
    return {
      viewsBuiltPerSecond: (built - this.#builtBefore) / seconds,
      viewsUnchangedPerSecond: (unchanged - this.#unchangedBefore) / seconds,
      feedBytesPerSecond: this.#bytes / seconds,
      framesPerSecond: this.#frames / seconds,
      viewChangesPerSecond: this.#changes / seconds,
      liveUpdatesPerSecond: this.#updates / seconds,
      liveBytesPerSecond: this.#updateBytes / seconds,
      viewP50Ms: percentile(this.#latencies, 0.5),
      viewP99Ms: percentile(this.#latencies, 0.99),
    };
  }

  #noteUpdate({ objects, patches }: LiveUpdate): void {
    this.#updates++;
    for (const json of [...objects.values(), ...patches.values()])
      this.#updateBytes += json.length;
  }

  #note(frame: Frame): void {
    const now = performance.timeOrigin + performance.now();
    this.#frames++;
    this.#changes += frame.changes.length;
    this.#bytes += frame.encoded("bench", encode).length;
    for (const { patch } of frame.changes) {
      const at = patch?.indexOf(MARK) ?? -1;
      if (at < 0) continue;
      const from = at + MARK.length;
      const to = patch!.indexOf(QUOTE, from);
      this.#latencies.push(now - Number(patch!.toString("latin1", from, to)));
    }
  }
}

/** One line of JSON a frame: kind, type, id and the patch, or the whole object where there is none. */
function encode({ changes, last }: Frame): Buffer {
  const pieces: Buffer[] = [];
  for (const { kind, type, id, patch, json } of changes) {
    const separator =
      pieces.length === 0 ? `{"revision":${last},"changes":[` : ",";
    pieces.push(Buffer.from(`${separator}["${kind}","${type}","${id}"`));
    const value = patch ?? json;
    if (value !== undefined) pieces.push(Buffer.from(","), value);
    pieces.push(Buffer.from("]"));
  }
  return Buffer.concat([...pieces, Buffer.from("]}\n")]);
}
