import { Readable } from "node:stream";
import type { StreamOptions, Xapi } from "@xo-server/xen-api";
import { XoError } from "@xo-server/model";
import type { StatsHost } from "../src/stats/fetch-measurements.js";

/** A host that measures, at every step, what a test says; it answers as XAPI's rrd_updates does. */
export class FakeHost implements StatsHost {
  readonly id: string;
  pool = "p";
  readonly address = "192.0.2.1";
  /** Time of the last measurement, in s. */
  now = 1_700_000_000;
  /** By names such as `vm:<uuid>:cpu0`: the value at a time. */
  measures: Readonly<Record<string, (time: number) => number>> = {};
  fails = false;
  /** It takes the question, and never answers. */
  hangs = false;
  /** What it answers instead of the step that is asked for. */
  step: number | undefined;
  /** It cannot report a single VM. */
  isPlain = false;
  /** Body of `vm_rrd`; absent: 404. */
  archive: string | undefined;
  /** `start`, `interval` and `vm_uuid` of each question. */
  readonly asked: (readonly [start: number, interval: number, vm?: string])[] =
    [];

  constructor(id: string) {
    this.id = id;
  }

  get xapi(): Pick<Xapi, "getStream"> {
    return {
      getStream: async ({ path, query = {}, signal }: StreamOptions) => {
        if (this.fails)
          throw new XoError("UNREACHABLE", { address: this.address });
        if (path === "/vm_rrd") return toAnswer(this.#document());
        const start = Number(query["start"]);
        const step = Number(query["interval"]);
        const vm = query["vm_uuid"];
        this.asked.push(vm === undefined ? [start, step] : [start, step, vm]);
        if (this.isPlain && vm !== undefined)
          throw new XoError("HTTP_STATUS", {
            address: this.address,
            status: 500,
            text: "No_RRA_Available",
          });
        if (this.hangs) await untilAborted(signal!);
        return toAnswer(this.#answer(start, this.step ?? step, vm));
      },
    };
  }

  #document(): string {
    if (this.archive !== undefined) return this.archive;
    const data = { address: this.address, status: 404, text: "Not Found" };
    throw new XoError("HTTP_STATUS", data);
  }

  #answer(start: number, step: number, vm: string | undefined): string {
    const end = Math.floor(this.now / step) * step;
    const from = start < 0 ? this.now + start : start;
    const names = Object.keys(this.measures).filter(
      (name) =>
        vm === undefined ||
        !name.startsWith("vm:") ||
        name.startsWith(`vm:${vm}:`),
    );
    const data = [];
    for (let t = end; t > from - (start < 0 ? 0 : 1); t -= step)
      data.push({
        t: String(t),
        values: names.map((name) => String(this.measures[name]!(t))),
      });
    const legend = names.map((name) => `AVERAGE:${name}`);
    const meta = { start: "0", step: String(step), end: String(end), legend };
    return JSON.stringify({ meta, data });
  }
}

function toAnswer(text: string) {
  const body = Readable.from([Buffer.from(text)]);
  return { status: 200, headers: {}, task: undefined, body };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      reject(new XoError("ABORTED", { what: "rrd_updates" }));
    });
  });
}
