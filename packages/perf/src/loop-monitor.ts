import {
  backgroundMonotonicClock,
  type Logger,
  type MonotonicClock,
} from "@xo-server/kit";
import {
  startBlockTracer,
  type BlockTrace,
  type BlockTracer,
  type BlockedAt,
} from "./block-tracer.js";
import {
  createHistogram,
  type Histogram,
  type HistogramSnapshot,
} from "./histogram.js";
import { createSections } from "./sections.js";

/** Time that the event loop has spent waiting and working, in milliseconds, since the process began. */
export interface LoopTimes {
  readonly idle: number;
  readonly active: number;
}

export interface LoopMonitorOptions {
  /** Blocks at least this long are logged and told to listeners. */
  readonly thresholdMs?: number;
  /** How often the loop is probed. See the README for what it costs. */
  readonly probeMs?: number;
  /** Stacks of blocks by `blocked-at`: very dear, only for the hunt. */
  readonly traceBlocks?: boolean;
  readonly logger?: Pick<Logger, "warn">;
  readonly clock?: MonotonicClock;
  readonly loopTimes?: () => LoopTimes;
  /** The package `blocked-at`, loaded when blocks are traced. */
  readonly blockedAt?: BlockedAt;
}

/** The loop did not come back for `ms`. */
export interface Block {
  readonly ms: number;
  /** When it was noticed, by the monitor's clock. */
  readonly at: number;
  /** The name of the longest section that ran meanwhile, where one was named. */
  readonly running?: string;
  /** With `traceBlocks`: where it began. */
  readonly trace?: BlockTrace;
}

export interface LoopSnapshot {
  /** How late the probe came, in milliseconds. */
  readonly delay: HistogramSnapshot;
  /** Share of the time since the last snapshot that the loop worked, 0..1. */
  readonly utilization: number;
  readonly blocks: number;
  readonly blockedMs: number;
  readonly longestBlockMs: number;
}

export interface LoopMonitor {
  start(): void;
  stop(): void;
  /** How late each probe came, in milliseconds. */
  readonly histogram: Histogram;
  /** The blocks of `thresholdMs` or more, in milliseconds. */
  readonly blocks: Histogram;
  /** Share of the time since the last call (of this or `snapshot`) that the loop worked, 0..1. */
  utilization(): number;
  /** The longest delay or block since the last call, in milliseconds, then starts anew. */
  takeLongestMs(): number;
  /** Tells of each block, after it; returns how to stop listening. */
  onBlock(listener: (block: Block) => void): () => void;
  /** Runs `section` under a name, so that a block can say what ran. */
  runSection<Result>(label: string, section: () => Result): Result;
  snapshot(): LoopSnapshot;
}

/**
 * Watches the event loop with a timer that asks "how late am I?". (Node's own
 * monitorEventLoopDelay misses most of a block: it showed 180 ms where a timer
 * saw 580.) A block is measured from the loop's own account of its idle time,
 * because the timer alone does not see the part before it was due.
 */
export function createLoopMonitor(
  options: LoopMonitorOptions = {},
): LoopMonitor {
  return new TimerLoopMonitor(options);
}

class TimerLoopMonitor implements LoopMonitor {
  readonly histogram = createHistogram();
  readonly blocks = createHistogram();
  readonly #options: LoopMonitorOptions;
  readonly #clock: MonotonicClock;
  readonly #thresholdMs: number;
  readonly #probeMs: number;
  readonly #loopTimes: () => LoopTimes;
  readonly #sections;
  readonly #listeners = new Set<(block: Block) => void>();
  #timer: unknown;
  #tracer: BlockTracer | undefined;
  #lastTick = 0;
  #lastActive = 0;
  #utilizationSince: LoopTimes;
  #longestMs = 0;

  constructor(options: LoopMonitorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? backgroundMonotonicClock;
    this.#thresholdMs = options.thresholdMs ?? 50;
    this.#probeMs = options.probeMs ?? 20;
    this.#loopTimes =
      options.loopTimes ?? (() => performance.eventLoopUtilization());
    this.#sections = createSections(() => this.#clock.now());
    this.#utilizationSince = this.#loopTimes();
  }

  start(): void {
    if (this.#timer !== undefined) return;
    if (this.#options.traceBlocks === true)
      this.#tracer = startBlockTracer(
        this.#thresholdMs,
        this.#options.blockedAt,
      );
    this.#utilizationSince = this.#loopTimes();
    this.#scheduleProbe();
  }

  stop(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tracer?.stop();
    this.#tracer = undefined;
  }

  runSection<Result>(label: string, section: () => Result): Result {
    return this.#sections.run(label, section);
  }

  onBlock(listener: (block: Block) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  utilization(): number {
    const { idle, active } = this.#loopTimes();
    const activeMs = active - this.#utilizationSince.active;
    const totalMs = activeMs + idle - this.#utilizationSince.idle;
    this.#utilizationSince = { idle, active };
    return totalMs > 0 ? activeMs / totalMs : 0;
  }

  takeLongestMs(): number {
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }

  snapshot(): LoopSnapshot {
    return {
      delay: this.histogram.snapshot(),
      utilization: this.utilization(),
      blocks: this.blocks.count,
      blockedMs: this.blocks.sum,
      longestBlockMs: this.blocks.max,
    };
  }

  #scheduleProbe(): void {
    this.#lastTick = this.#clock.now();
    this.#lastActive = this.#loopTimes().active;
    this.#timer = this.#clock.setTimeout(() => {
      this.#probe();
    }, this.#probeMs);
  }

  #probe(): void {
    const gapMs = this.#clock.now() - this.#lastTick;
    const lateMs = Math.max(0, gapMs - this.#probeMs);
    this.histogram.record(lateMs);
    this.#longestMs = Math.max(this.#longestMs, lateMs);
    if (gapMs >= this.#thresholdMs) this.#recordBlock(gapMs, lateMs);
    this.#scheduleProbe();
  }

  /** The loop was late by `lateMs` at least; at most, it worked without a pause since the last probe. */
  #recordBlock(gapMs: number, lateMs: number): void {
    const activeMs = this.#loopTimes().active - this.#lastActive;
    const ms = Math.max(lateMs, Math.min(gapMs, activeMs));
    const trace = this.#tracer?.take();
    if (ms < this.#thresholdMs) return;
    this.blocks.record(ms);
    this.#longestMs = Math.max(this.#longestMs, ms);
    const running = this.#sections.longestSince(this.#lastTick)?.label;
    this.#notify({
      ms,
      at: this.#clock.now(),
      ...(running === undefined ? {} : { running }),
      ...(trace === undefined ? {} : { trace }),
    });
  }

  #notify(block: Block): void {
    const { ms, running, trace } = block;
    const message = `blocked for ${Math.round(ms)}ms`;
    if (running === undefined && trace === undefined)
      this.#options.logger?.warn(message);
    else this.#options.logger?.warn(message, { running, ...trace, ms });
    for (const listener of this.#listeners) listener(block);
  }
}
