import { Readable } from "node:stream";
import type { StreamOptions, Xapi } from "@xo-server/xen-api";
import { XoError } from "@xo-server/model";
import type { StatsHost } from "../src/stats/fetch-measurements.js";

/** A host that measures, at every step, what a test says; it answers as XAPI's rrd_updates does. */
export class FakeHost implements StatsHost {
  readonly id: string;
  readonly address = "192.0.2.1";
  /** Time of the last measurement, in s. */
  now = 1_700_000_000;
  /** By names such as `vm:<uuid>:cpu0`: the value at a time. */
  measures: Readonly<Record<string, (time: number) => number>> = {};
  fails = false;
  /** `start` and `interval` of each question. */
  readonly asked: (readonly [start: number, interval: number])[] = [];

  constructor(id: string) {
    this.id = id;
  }

  get xapi(): Pick<Xapi, "getStream"> {
    return {
      getStream: async ({ query = {} }: StreamOptions) => {
        if (this.fails)
          throw new XoError("UNREACHABLE", { address: this.address });
        const start = Number(query["start"]);
        const step = Number(query["interval"]);
        this.asked.push([start, step]);
        const body = Readable.from([Buffer.from(this.#answer(start, step))]);
        return { status: 200, headers: {}, task: undefined, body };
      },
    };
  }

  #answer(start: number, step: number): string {
    const end = Math.floor(this.now / step) * step;
    const from = start < 0 ? this.now + start : start;
    const data = [];
    for (let t = end; t >= from; t -= step)
      data.push({
        t: String(t),
        values: Object.values(this.measures).map((at) => String(at(t))),
      });
    const legend = Object.keys(this.measures).map((name) => `AVERAGE:${name}`);
    const meta = { start: "0", step: String(step), end: String(end), legend };
    return JSON.stringify({ meta, data });
  }
}
