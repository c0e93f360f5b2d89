import { readdir, readFile } from "node:fs/promises";
import { readMemoryMap } from "./memory-map.js";

/** Figures of the server at one moment; times in ms, sizes in bytes. */
export interface Sample {
  /** Since the start of the soak. */
  readonly atMs: number;
  readonly rss: number;
  /** Part of `rss`: arenas of malloc. */
  readonly arenas: number;
  /** Part of `rss`: files. */
  readonly files: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  /** Part of `external`: also those that V8 has not collected yet. */
  readonly arrayBuffers: number;
  readonly threads: number;
  /** Open files and sockets of the process. */
  readonly handles: number;
  /** Delay of the event loop since the sample before. */
  readonly loopP50Ms: number;
  readonly loopP99Ms: number;
  readonly clients: number;
  /** All gauges of `/metrics` without labels: sizes of caches and tables. */
  readonly gauges: Readonly<Record<string, number>>;
}

type Buckets = readonly (readonly [limitMs: number, count: number])[];

/** Reads `/metrics` and `/proc` of a server. */
export class Sampler {
  readonly #url: string;
  readonly #pid: number;
  readonly #startedAt = performance.now();
  #before: Buckets = [];

  constructor(url: string, pid: number) {
    this.#url = url;
    this.#pid = pid;
  }

  /** @throws Error while the server does not answer */
  async take(): Promise<Sample> {
    const text = await (await fetch(`${this.#url}/metrics`)).text();
    const gauges = gaugesOf(text);
    const gauge = (name: string) => gauges[name] ?? NaN;
    const buckets = bucketsOf(text);
    const delays = difference(this.#before, buckets);
    this.#before = buckets;
    const { arenas, files } = await readMemoryMap(this.#pid);
    const status = await readFile(`/proc/${this.#pid}/status`, "utf8");
    const ofStatus = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
    return {
      atMs: performance.now() - this.#startedAt,
      rss: ofStatus("VmRSS") * 1024,
      arenas,
      files,
      heapUsed: gauge("xo_process_heap_used_bytes"),
      heapTotal: gauge("xo_process_heap_total_bytes"),
      external: gauge("xo_process_external_bytes"),
      arrayBuffers: gauge("xo_process_array_buffers_bytes"),
      threads: ofStatus("Threads"),
      handles: (await readdir(`/proc/${this.#pid}/fd`)).length,
      loopP50Ms: percentile(delays, 0.5),
      loopP99Ms: percentile(delays, 0.99),
      clients: gauge("xo_api_clients"),
      gauges,
    };
  }
}

function gaugesOf(text: string): Record<string, number> {
  const isGauge = new Set(
    [...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name),
  );
  const lines = [...text.matchAll(/^(\w+) (\S+)$/gm)];
  return Object.fromEntries(
    lines.flatMap(([, name, value]) =>
      isGauge.has(name) ? [[name!, Number(value)]] : [],
    ),
  );
}

/** Cumulated counts, as Prometheus has them. */
function bucketsOf(text: string): Buckets {
  const pattern =
    /^xo_event_loop_delay_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;
  return [...text.matchAll(pattern)].map(
    ([, limit, count]): readonly [number, number] => [
      limit === "+Inf" ? Infinity : Number(limit) * 1000,
      Number(count),
    ],
  );
}

function difference(before: Buckets, after: Buckets): Buckets {
  return after.map(([limit, count], i) => [
    limit,
    count - (before[i]?.[1] ?? 0),
  ]);
}

/** The limit of the bucket that has it: an upper bound. */
function percentile(buckets: Buckets, part: number): number {
  const total = buckets.at(-1)?.[1] ?? 0;
  const [limit = 0] = buckets.find(([, count]) => count >= total * part) ?? [];
  return Number.isFinite(limit) ? limit : (buckets.at(-2)?.[0] ?? 0);
}
