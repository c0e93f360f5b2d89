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

/**
 * Time since the start of the process that the event loop has been idle and
 * active, in milliseconds (performance.eventLoopUtilization).
 */
export interface LoopTimes {
  readonly idle: number;
  readonly active: number;
}

export interface LoopMonitorOptions {
  /**
   * Blocks of at least this length in milliseconds are logged and reported to
   * listeners; default 50.
   */
  readonly thresholdMs?: number;
  /** Interval of probes in milliseconds; default 20. The README has the cost. */
  readonly probeMs?: number;
  /**
   * Record stacks of blocks with `blocked-at`; very expensive, only for
   * debugging.
   */
  readonly traceBlocks?: boolean;
  /** Blocks above a second are warnings; the others are summed up each minute. */
  readonly logger?: Pick<Logger, "debug" | "info" | "warn">;
  readonly clock?: MonotonicClock;
  readonly loopTimes?: () => LoopTimes;
  /** CPU time that the process has used so far, all threads, in milliseconds; default process.cpuUsage(). */
  readonly cpuMs?: () => number;
  /** Replaces the package `blocked-at` in tests. */
  readonly blockedAt?: BlockedAt;
}

/** The event loop was blocked for `ms`. */
export interface Block {
  readonly ms: number;
  /** Time of detection by the monitor's clock. */
  readonly at: number;
  /** Label of the longest named section during the block, if any. */
  readonly running?: string;
  /** With `traceBlocks`: the origin of the block. */
  readonly trace?: BlockTrace;
}

export interface LoopSnapshot {
  /** Delay of the probes in milliseconds. */
  readonly delay: HistogramSnapshot;
  /** Share of the time since the last snapshot that the loop was active, 0..1. */
  readonly utilization: number;
  readonly blocks: number;
  readonly blockedMs: number;
  readonly longestBlockMs: number;
}

export interface LoopMonitor {
  start(): void;
  stop(): void;
  /** Delay of each probe in milliseconds. */
  readonly histogram: Histogram;
  /** Blocks of at least `thresholdMs`, in milliseconds. */
  readonly blocks: Histogram;
  /**
   * Share of the time since the last call (of this or `snapshot`) that the loop
   * was active, 0..1.
   */
  utilization(): number;
  /**
   * Returns the longest delay or block since the last call in milliseconds, and
   * resets it.
   */
  takeLongestMs(): number;
  /** Calls back after each block. @returns a function that unsubscribes */
  onBlock(listener: (block: Block) => void): () => void;
  /**
   * Runs a function as a named section, so that a block can be attributed to
   * it. @returns its result
   */
  runSection<Result>(label: string, section: () => Result): Result;
  snapshot(): LoopSnapshot;
}

/**
 * Monitors the event loop with a timer that measures its own delay. (Node's
 * monitorEventLoopDelay misses most of a block: it reported 180 ms where a
 * timer measured 580.) The length of a block is derived from the loop's active
 * time, because the timer does not see the part of a block before it was due.
 */
export function createLoopMonitor(
  options: LoopMonitorOptions = {},
): LoopMonitor {
  return new TimerLoopMonitor(options);
}

/** Blocks above it are logged as warnings. */
const WARN_MS = 1_000;
/** Share of a longer block in which a process that runs uses more CPU time. */
const MIN_CPU_SHARE = 0.05;
/**
 * The CPU time is read as often: the kernel adds up that of all threads, which takes 0.2 ms
 * while many of them work.
 */
const CPU_TIME_MS = 200;
/** Interval of summaries of shorter blocks. */
const SUMMARY_MS = 60_000;

class TimerLoopMonitor implements LoopMonitor {
  readonly histogram = createHistogram();
  readonly blocks = createHistogram();
  readonly #options: LoopMonitorOptions;
  readonly #clock: MonotonicClock;
  readonly #thresholdMs: number;
  readonly #probeMs: number;
  readonly #loopTimes: () => LoopTimes;
  readonly #cpuMs: () => number;
  readonly #sections;
  readonly #listeners = new Set<(block: Block) => void>();
  #timer: unknown;
  #tracer: BlockTracer | undefined;
  #lastTick = 0;
  #lastActive = 0;
  /** CPU time of the process, and when it was read. */
  #cpuTime = { ms: 0, at: -Infinity };
  #utilizationSince: LoopTimes;
  #longestMs = 0;
  /** Blocks that were not logged as warnings since the last summary. */
  #unreported = { count: 0, ms: 0, longestMs: 0 };
  #summaryAt = 0;

  constructor(options: LoopMonitorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? backgroundMonotonicClock;
    this.#thresholdMs = options.thresholdMs ?? 50;
    this.#probeMs = options.probeMs ?? 20;
    this.#loopTimes =
      options.loopTimes ?? (() => performance.eventLoopUtilization());
    this.#cpuMs = options.cpuMs ?? cpuMs;
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
    this.#summaryAt = this.#clock.now() + SUMMARY_MS;
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
    if (this.#lastTick - this.#cpuTime.at >= CPU_TIME_MS)
      this.#cpuTime = { ms: this.#cpuMs(), at: this.#lastTick };
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
    this.#summarize();
    this.#scheduleProbe();
  }

  /**
   * The block took at least `lateMs`, and at most the active time since the
   * last probe.
   */
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

  #summarize(): void {
    const now = this.#clock.now();
    if (now < this.#summaryAt) return;
    this.#summaryAt = now + SUMMARY_MS;
    const { count, ms, longestMs } = this.#unreported;
    if (count === 0) return;
    this.#unreported = { count: 0, ms: 0, longestMs: 0 };
    this.#options.logger?.info(
      `event loop blocked ${count} times, ${Math.round(ms)} ms in all, at most ${Math.round(longestMs)} ms`,
    );
  }

  /** A process that is stopped (SIGSTOP) or whose machine is paused uses no CPU time. */
  #withoutCpuTime(blockedMs: number): string {
    if (blockedMs <= WARN_MS) return "";
    // What the main thread may have used before the block does not count.
    const beforeMs = this.#lastTick - this.#cpuTime.at;
    const usedMs = this.#cpuMs() - this.#cpuTime.ms - beforeMs;
    if (usedMs > blockedMs * MIN_CPU_SHARE) return "";
    return ", without CPU time: the process was suspended, or waited for the operating system";
  }

  #notify(block: Block): void {
    const { ms, running, trace } = block;
    const { logger } = this.#options;
    const message = `event loop blocked for ${Math.round(ms)} ms${this.#withoutCpuTime(ms)}`;
    const data =
      running === undefined && trace === undefined
        ? undefined
        : { running, ...trace, ms };
    if (ms > WARN_MS) logger?.warn(message, data);
    else {
      logger?.debug(message, data);
      const { count, ms: total, longestMs } = this.#unreported;
      this.#unreported = {
        count: count + 1,
        ms: total + ms,
        longestMs: Math.max(longestMs, ms),
      };
    }
    for (const listener of this.#listeners) listener(block);
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
