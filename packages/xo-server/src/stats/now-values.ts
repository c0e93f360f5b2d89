import { nowRecipe } from "./now-recipe.js";
import type { Shape } from "./shape.js";
import type { Followed } from "./tracks.js";

/** What MetricsTable of the inventory takes, and has told at `commit`. */
export interface NowSink {
  set(id: string, metric: number, value: number): void;
  commit(): void;
}

export interface NowSinks {
  readonly VM: NowSink;
  readonly host: NowSink;
}

/** Rows that a figure is looked for in, from the latest back. */
const ROWS = 3;

/** Tells the latest figures of what hosts measure. */
export class NowValues {
  readonly #open: () => NowSinks;
  #opened: NowSinks | undefined;
  #isChanged = false;

  /** @param open called when there is something to tell */
  constructor(open: () => NowSinks) {
    this.#open = open;
  }

  tell(followed: Followed): void {
    const { track } = followed;
    const sink = this.#sinkOf(track.shape);
    if (sink === undefined) return;
    const latest = (column: number) => {
      for (let age = 0; age < ROWS && column >= 0; age++) {
        const value = track.at(track.end - age * track.step, column);
        if (Number.isFinite(value)) return value;
      }
      return NaN;
    };
    for (const [metric, formula] of nowRecipe(track.shape).entries())
      sink.set(track.uuid, metric, formula(latest));
    followed.isNow = true;
    this.#isChanged = true;
  }

  /** Of an object that nobody measures lately nothing is known. */
  dropIfOld(followed: Followed, nowMs: number): void {
    const { track, heardAt, isNow } = followed;
    if (!isNow || nowMs - heardAt <= ROWS * track.step * 1000) return;
    const sink = this.#sinkOf(track.shape);
    for (const metric of nowRecipe(track.shape).keys())
      sink?.set(track.uuid, metric, NaN);
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

  #sinkOf({ type }: Shape): NowSink | undefined {
    if (type === "vm") return this.#sinks.VM;
    return type === "host" ? this.#sinks.host : undefined;
  }
}
