import { metricFormulas } from "./now-recipe.js";
import type { ColumnSet } from "./column-set.js";
import type { TrackedObject } from "./series-store.js";

/** Receives latest metrics, published at `commit`. */
interface NowSink {
  set(id: string, metric: number, value: number): void;
  commit(): void;
}

interface NowSinks {
  readonly VM: NowSink;
  readonly host: NowSink;
}

/** Number of latest rows searched for a value. */
const ROWS = 3;

/** Publishes the latest metrics of objects. */
export class NowValues {
  readonly #open: () => NowSinks;
  #opened: NowSinks | undefined;
  #isChanged = false;

  /** @param open called before the first value of a round */
  constructor(open: () => NowSinks) {
    this.#open = open;
  }

  update(followed: TrackedObject): void {
    const { series } = followed;
    const sink = this.#sinkOf(series.columnSet);
    if (sink === undefined) return;
    const latest = (column: number) => {
      for (let age = 0; age < ROWS && column >= 0; age++) {
        const value = series.at(series.end - age * series.step, column);
        if (Number.isFinite(value)) return value;
      }
      return NaN;
    };
    for (const [metric, formula] of metricFormulas(series.columnSet).entries())
      sink.set(series.uuid, metric, formula(latest));
    followed.isNow = true;
    this.#isChanged = true;
  }

  /** Clears the metrics of an object without measurements since a moment (ms since the epoch). */
  dropIfOld(followed: TrackedObject, sinceMs: number): void {
    const { series, receivedAt, isNow } = followed;
    if (!isNow || receivedAt >= sinceMs) return;
    const sink = this.#sinkOf(series.columnSet);
    for (const metric of metricFormulas(series.columnSet).keys())
      sink?.set(series.uuid, metric, NaN);
    followed.isNow = false;
    this.#isChanged = true;
  }

  commit(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#sinks.VM.commit();
    this.#sinks.host.commit();
  }

  get #sinks(): NowSinks {
    return (this.#opened ??= this.#open());
  }

  #sinkOf({ type }: ColumnSet): NowSink | undefined {
    if (type === "vm") return this.#sinks.VM;
    return type === "host" ? this.#sinks.host : undefined;
  }
}
