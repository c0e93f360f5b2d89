import { readdir, readFile } from "node:fs/promises";

/** Figures of the server at one moment; times in ms, sizes in bytes. */
export interface Sample {
  /** Since the start of the soak. */
  readonly atMs: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Open files and sockets of the process. */
  readonly handles: number;
  /** Delay of the event loop since the sample before. */
  readonly loopP50Ms: number;
  readonly loopP99Ms: number;
  readonly clients: number;
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
    const gauge = (name: string) =>
      Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
    const buckets = bucketsOf(text);
    const delays = difference(this.#before, buckets);
    this.#before = buckets;
    return {
      atMs: performance.now() - this.#startedAt,
      rss: await this.#rss(),
      heapUsed: gauge("xo_process_heap_used_bytes"),
      external: gauge("xo_process_external_bytes"),
      handles: (await readdir(`/proc/${this.#pid}/fd`)).length,
      loopP50Ms: percentile(delays, 0.5),
      loopP99Ms: percentile(delays, 0.99),
      clients: gauge("xo_api_clients"),
    };
  }

  async #rss(): Promise<number> {
    const status = await readFile(`/proc/${this.#pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  }
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
