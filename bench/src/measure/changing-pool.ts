import type { PoolSource } from "@xo-server/inventory";
import { mirroredClasses, type RecordBatch } from "@xo-server/model";
import type { ParserPool } from "@xo-server/parser-pool";
import type { DerivedPool } from "@xo-server/xapi-sim";
import type {
  EventPosition,
  ListOptions,
  ListResult,
  XapiEvents,
} from "@xo-server/xen-api";

/** An object as it is from now on: its record as XAPI writes it in JSON. */
export interface ChangedRecord {
  readonly className: string;
  readonly ref: string;
  readonly json: string;
}

interface Waiting {
  readonly records: readonly ChangedRecord[];
  readonly onTaken: () => void;
}

type OnBatch = (batch: RecordBatch) => void;

/**
 * A pool within this process that changes on request: no network, no
 * simulator, but the bytes of the wire, read by the parser pool.
 */
export class ChangingPool implements PoolSource {
  readonly state = { name: "connected" } as const;
  readonly objects: DerivedPool;
  readonly #decoder: ParserPool;
  readonly #classes: readonly string[];
  readonly #counts: ReadonlyMap<string, number>;
  readonly #waiting: Waiting[] = [];
  #wake: () => void = () => undefined;
  #generation = 1;

  /** @param classes that it has; default: all that are mirrored */
  constructor(
    objects: DerivedPool,
    decoder: ParserPool,
    classes: readonly string[] = mirroredClasses(),
  ) {
    this.objects = objects;
    this.#decoder = decoder;
    this.#classes = classes;
    this.#counts = new Map(classes.map((name) => [name, objects.count(name)]));
  }

  /** Resolves when the inventory has processed the changes and requests the next ones. */
  change(records: readonly ChangedRecord[]): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ records, onTaken: resolve });
      this.#wake();
    });
  }

  onState(): () => void {
    return () => undefined;
  }

  async listableClasses(): Promise<readonly string[]> {
    return this.#classes;
  }

  async injectToken(): Promise<string> {
    return String(this.#generation);
  }

  async eventPosition(): Promise<EventPosition> {
    return { token: await this.injectToken() };
  }

  async listRecords(
    className: string,
    { onBatch }: ListOptions,
  ): Promise<ListResult> {
    const listing = this.objects.wholeListing(className);
    const pieces = [
      Buffer.from('{"jsonrpc":"2.0","result":'),
      ...listing.pieces(),
      Buffer.from(',"id":0}'),
    ];
    await this.#decode(pieces, onBatch, className);
    return { records: this.objects.count(className), bytes: listing.length };
  }

  async *events({
    signal,
  }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<XapiEvents> {
    signal?.addEventListener("abort", () => this.#wake());
    while (signal?.aborted !== true) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      const batches: RecordBatch[] = [];
      await this.#decode([this.#answer(next.records)], (batch) =>
        batches.push(batch),
      );
      const token = String(this.#generation);
      yield { kind: "changes", batches, token, validRefCounts: this.#counts };
      next.onTaken();
    }
  }

  /** The response of event.from. */
  #answer(records: readonly ChangedRecord[]): Buffer {
    const events = records.map(
      ({ className, ref, json }) =>
        `{"id":"1","timestamp":"0.0","class":"${className.toLowerCase()}","operation":"mod","ref":"${ref}","snapshot":${json}}`,
    );
    return Buffer.from(
      `{"jsonrpc":"2.0","result":{"events":[${events.join(",")}],"valid_ref_counts":{},"token":"${++this.#generation}"},"id":0}`,
    );
  }

  /** @param className of a listing; without it: an answer of event.from */
  async #decode(
    pieces: readonly Buffer[],
    onBatch: OnBatch,
    className?: string,
  ): Promise<void> {
    const isListing = className !== undefined;
    const stream = this.#decoder.open(
      {
        encoding: "json-rpc",
        shape: isListing ? "records" : "events",
        priority: isListing ? "bulk" : "event",
        lane: "",
        contentLength: pieces.reduce((sum, { length }) => sum + length, 0),
        ...(isListing ? { className } : {}),
      },
      { onBatch },
    );
    for (const piece of pieces) {
      for (let at = 0; at < piece.length;) {
        const space = stream.space();
        const length = Math.min(space.length, piece.length - at);
        space.set(piece.subarray(at, at + length));
        stream.commit(length);
        at += length;
      }
    }
    const { outcome } = await stream.end();
    if (outcome === "failure") throw new Error("the answer was refused");
  }
}
