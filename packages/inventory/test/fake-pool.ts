import { EventOperation, toSharedBuffer, XapiError } from "@xo-server/model";
import type { PoolSource } from "@xo-server/inventory";
import type {
  EventPosition,
  EventsOptions,
  ListOptions,
  LostReason,
  XapiEvents,
  XapiState,
} from "@xo-server/xen-api";
import { buildBatch, type BatchItem } from "./batch-builder.js";

export type StateName = XapiState["name"];

interface Change {
  readonly at: number;
  readonly className: string;
  readonly ref: string;
}

/** A pool in memory that lists records and reports events by XAPI's rules (coalesced, add before mod before del). */
export class FakePool implements PoolSource {
  readonly objects = new Map<string, Map<string, object>>();
  /** Listing these fails so, once or always. */
  readonly listingErrors = new Map<string, { error: Error; once?: boolean }>();
  readonly listed: string[] = [];
  /** Records in a batch of a listing. */
  batchSize = 3;
  /** Listings are in shared memory, as parser workers return them. */
  listsShared = false;
  /** Called between the batches of a listing: the pool may change meanwhile. */
  whileListing: () => void = () => undefined;
  concurrentLists = 0;
  mostConcurrentLists = 0;
  /** Answers of events that have been dealt with: the consumer has come back for the next. */
  polls = 0;
  #generation = 1;
  /** Changes of messages: the second half of the tokens. */
  #messageGeneration = 1;
  readonly #changes: Change[] = [];
  readonly #created = new Map<string, number>();
  #state: StateName = "connected";
  readonly #stateListeners = new Set<
    (state: { readonly name: StateName }) => void
  >();
  #lost: LostReason | Error | undefined;
  #isPolled = false;
  #wake: () => void = () => undefined;
  /** Issuer of the tokens; a stream with another one is lost. */
  issuer: string | undefined;
  /** Deletions for which the pool sends no event. */
  forgetsDeletions = false;

  constructor(classes: readonly string[] = []) {
    for (const name of classes) this.objects.set(name, new Map());
  }

  get state() {
    return { name: this.#state };
  }

  setState(name: StateName): void {
    this.#state = name;
    for (const listener of this.#stateListeners) listener({ name });
  }

  onState(listener: (state: { readonly name: StateName }) => void) {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  get stateListeners(): number {
    return this.#stateListeners.size;
  }

  put(className: string, ref: string, record: object): void {
    const table = this.objects.get(className)!;
    this.#generation++;
    if (!table.has(ref))
      this.#created.set(`${className}/${ref}`, this.#generation);
    table.set(ref, record);
    if (className === "message") this.#messageGeneration++;
    this.#changes.push({ at: this.#generation, className, ref });
  }

  delete(className: string, ref: string): void {
    if (!this.objects.get(className)!.delete(ref)) return;
    this.#generation++;
    if (className === "message") this.#messageGeneration++;
    if (!this.forgetsDeletions)
      this.#changes.push({ at: this.#generation, className, ref });
  }

  /** The next poll of events is answered with what there is, also when that is nothing. */
  poll(): void {
    this.#isPolled = true;
    this.#wake();
  }

  /** The event stream says `lost`, or breaks. */
  lose(reason: LostReason | Error): void {
    this.#lost = reason;
    this.#wake();
  }

  async listableClasses(): Promise<readonly string[]> {
    return [...this.objects.keys()];
  }

  async injectToken(): Promise<string> {
    return `${this.#generation},0`;
  }

  async eventPosition(): Promise<EventPosition> {
    const token = await this.injectToken();
    const { issuer } = this;
    return issuer === undefined ? { token } : { token, issuer };
  }

  async listRecords(className: string, options: ListOptions) {
    this.listed.push(className);
    this.mostConcurrentLists = Math.max(
      this.mostConcurrentLists,
      ++this.concurrentLists,
    );
    try {
      return await this.#list(className, options);
    } finally {
      this.concurrentLists--;
    }
  }

  async #list(className: string, { onBatch, signal }: ListOptions) {
    await turn();
    const failure = this.listingErrors.get(className);
    if (failure?.once === true) this.listingErrors.delete(className);
    // XAPI reports an error instead of records, the connection may fail later.
    if (failure?.error instanceof XapiError) throw failure.error;
    if (!this.objects.has(className))
      throw new XapiError("MESSAGE_METHOD_UNKNOWN", [
        `${className}.get_all_records`,
      ]);
    const records = [...this.objects.get(className)!];
    for (let from = 0; from < records.length; from += this.batchSize) {
      signal?.throwIfAborted();
      // The response contains what existed when it began.
      const items = records.slice(from, from + this.batchSize);
      const batch = buildBatch(
        items.map(([ref, record]) => ({
          className,
          ref,
          record,
          operation: EventOperation.add,
        })),
      );
      const { buffer } = batch;
      const isCopied = this.listsShared && buffer instanceof ArrayBuffer;
      onBatch(isCopied ? { ...batch, buffer: toSharedBuffer(buffer) } : batch);
      if (failure !== undefined) break;
      this.whileListing();
      await turn();
    }
    if (failure !== undefined) throw failure.error;
    return { records: records.length, bytes: 0 };
  }

  async *events(options: EventsOptions = {}): AsyncGenerator<XapiEvents> {
    let from = Number.parseInt(options.from ?? "0", 10);
    const { signal, classes = ["*"], issuer } = options;
    if (issuer !== undefined && issuer !== this.issuer)
      this.#lost = "new-session";
    const wake = () => {
      this.#wake();
    };
    signal?.addEventListener("abort", wake);
    while (signal?.aborted !== true) {
      const lost = this.#lost;
      if (lost !== undefined) {
        this.#lost = undefined;
        if (typeof lost !== "string") throw lost;
        yield { kind: "lost", reason: lost };
        return;
      }
      if (!this.#isPolled) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#isPolled = false;
      const items = this.#eventsSince(from, classes);
      from = this.#generation;
      yield {
        kind: "changes",
        batches: items.length === 0 ? [] : [buildBatch(items)],
        token: `${from},${this.#messageGeneration}`,
        validRefCounts: new Map(
          [...this.objects].map(([name, table]) => [
            name,
            name === "message" || name === "role" ? 0 : table.size,
          ]),
        ),
      };
      this.polls++;
    }
  }

  #eventsSince(from: number, classes: readonly string[]): BatchItem[] {
    const touched = new Map<string, Change>();
    for (const change of this.#changes)
      if (
        change.at > from &&
        (classes.includes("*") || classes.includes(change.className))
      )
        touched.set(`${change.className}/${change.ref}`, change);
    const items = [...touched].flatMap<
      BatchItem & { operation: EventOperation }
    >(([key, { className, ref }]) => {
      const record = this.objects.get(className)!.get(ref);
      const isNew = (this.#created.get(key) ?? 0) > from;
      if (record === undefined)
        return isNew ? [] : [{ className, ref, operation: EventOperation.del }];
      const operation = isNew ? EventOperation.add : EventOperation.mod;
      return [{ className, ref, record, operation }];
    });
    return items.sort((a, b) => a.operation - b.operation);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
