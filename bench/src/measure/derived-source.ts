import type { PoolSource } from "@xo-server/inventory";
import { datamodel, mirroredClasses, type RecordBatch } from "@xo-server/model";
import type { ParserPool } from "@xo-server/parser-pool";
import type { DerivedPool } from "@xo-server/xapi-sim";
import type {
  EventPosition,
  ListOptions,
  ListResult,
  XapiEvents,
} from "@xo-server/xen-api";
import type { ChangeGenerator, Hours } from "./simulated-day.js";

/** What a source needs beside its objects. */
interface DerivedSourceParts {
  readonly decoder: ParserPool;
  readonly hours: Hours;
  readonly changes: ChangeGenerator;
}

type Shape = "records" | "events";

/**
 * A pool within this process, for feeding the inventory faster than a network
 * would: its answers are the bytes of the wire, read by the parser pool.
 */
export class DerivedSource implements PoolSource {
  readonly state = { name: "connected" } as const;
  readonly #pool: DerivedPool;
  readonly #parts: DerivedSourceParts;
  readonly #counts: Map<string, number>;
  #generation = 1;

  constructor(pool: DerivedPool, parts: DerivedSourceParts) {
    this.#pool = pool;
    this.#parts = parts;
    this.#counts = new Map(
      Object.keys(datamodel.classes).map((name) => [name, pool.count(name)]),
    );
  }

  onState(): () => void {
    return () => undefined;
  }

  async listableClasses(): Promise<readonly string[]> {
    return mirroredClasses();
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
    const listing = this.#pool.wholeListing(className);
    const body = [
      Buffer.from('{"jsonrpc":"2.0","result":'),
      ...listing.pieces(),
      Buffer.from(',"id":0}'),
    ];
    await this.#decode("records", className, { body, onBatch });
    return { records: this.#pool.count(className), bytes: listing.length };
  }

  async *events({
    signal,
  }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<XapiEvents> {
    const { hours, changes } = this.#parts;
    while (signal?.aborted !== true) {
      const count = await hours.take();
      if (count === 0) return;
      const batches: RecordBatch[] = [];
      const body = changes.answer(this.#pool, this.#counts, {
        count,
        token: String(++this.#generation),
      });
      await this.#decode("events", undefined, {
        body,
        onBatch: (batch) => {
          batches.push(batch);
        },
      });
      yield {
        kind: "changes",
        batches,
        token: String(this.#generation),
        validRefCounts: this.#counts,
      };
      hours.done(count);
    }
  }

  async #decode(
    shape: Shape,
    className: string | undefined,
    {
      body,
      onBatch,
    }: {
      readonly body: readonly Buffer[];
      readonly onBatch: (batch: RecordBatch) => void;
    },
  ): Promise<void> {
    const stream = this.#parts.decoder.open(
      {
        encoding: "json-rpc",
        shape,
        priority: shape === "events" ? "event" : "bulk",
        lane: "",
        contentLength: body.reduce((sum, { length }) => sum + length, 0),
        ...(className === undefined ? {} : { className }),
      },
      { onBatch },
    );
    for (const piece of body) write(stream, piece);
    const { outcome } = await stream.end();
    if (outcome === "failure") throw new Error("the answer was refused");
  }
}

function write(stream: ReturnType<ParserPool["open"]>, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    const space = stream.space();
    const length = Math.min(space.length, bytes.length - at);
    space.set(bytes.subarray(at, at + length));
    stream.commit(length);
    at += length;
  }
}
