import { XapiError, XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Clock } from "../clock.js";
import type { Pools } from "../pools/pools.js";
import { findFlight } from "./find-flight.js";
import type { Flight, FlightEnd } from "./flight.js";
import { pause } from "./pause.js";
import type { Work } from "./work.js";

/** What became of a task of a pool that was in flight when the server died. */
export type FlightOutcome =
  | { readonly name: "success" }
  | { readonly name: "failure"; readonly error: Error }
  /** The pool was never asked. */
  | { readonly name: "not-begun" }
  | { readonly name: "unknown"; readonly reason: string };

export interface FlightWatchOptions {
  readonly pools: Pick<Pools, "xapi" | "list">;
  readonly clock: Clock;
}

/** Between two looks whether a pool is connected, in ms. */
const LOOK_MS = 200;

/** Finds again what pools do for work of this server's last run, and waits for its end. */
export class FlightWatch {
  readonly #options: FlightWatchOptions;
  /** References that flights of the last run have. */
  readonly #known = new Set<string>();

  constructor(options: FlightWatchOptions) {
    this.#options = options;
  }

  /** They are of the last run. */
  know(flights: Iterable<Flight>): void {
    for (const { ref } of flights) if (ref !== undefined) this.#known.add(ref);
  }

  /**
   * Waits for its pool, and for its end.
   * @param part its progress is the flight's; when it is aborted, the pool cancels
   */
  async outcome(flight: Flight, part: Work): Promise<FlightOutcome> {
    if (flight.ended !== undefined) return toOutcome(flight.ended, flight);
    const xapi = await this.#connected(flight.pool, part.signal);
    if (typeof xapi === "string") return { name: "unknown", reason: xapi };
    if (flight.ref !== undefined)
      return this.#follow(xapi, { ...flight, ref: flight.ref }, part);
    const found = await findFlight(xapi, flight, this.#known);
    if ("ref" in found) {
      this.#known.add(found.ref);
      return this.#follow(xapi, { ...flight, ref: found.ref }, part);
    }
    if (found.count === 0) return { name: "not-begun" };
    const reason = `the pool has ${found.count} tasks of ${flight.method} of that time that it may be; ${await stateOf(xapi, flight)}`;
    return { name: "unknown", reason };
  }

  /** @returns why it will not be */
  async #connected(pool: string, signal: AbortSignal): Promise<Xapi | string> {
    const { pools, clock } = this.#options;
    while (!signal.aborted) {
      if (!pools.list().some(({ id }) => id === pool))
        return `the pool ${pool} is not there any more`;
      try {
        const xapi = pools.xapi(pool);
        if (xapi.state.name === "connected") return xapi;
      } catch {
        // It is being made.
      }
      await pause(clock, LOOK_MS, signal);
    }
    return `it was given up while the pool ${pool} was not connected`;
  }

  async #follow(
    xapi: Xapi,
    flight: Flight & { readonly ref: Ref },
    part: Work,
  ): Promise<FlightOutcome> {
    const { ref, isStream } = flight;
    // Its connection is gone, and nobody will send or read the rest.
    const signal = isStream === true ? AbortSignal.abort() : part.signal;
    const onProgress = (fraction: number) => {
      part.progress(fraction);
    };
    try {
      await xapi.watchTask(ref, { signal, onProgress });
      forget(xapi, ref);
      return { name: "success" };
    } catch (error) {
      if (error instanceof XoError && error.code === "TASK_LOST") {
        const reason = `the pool knows its task no more; ${await stateOf(xapi, flight)}`;
        return { name: "unknown", reason };
      }
      if (error instanceof XoError && error.code === "CLOSED") throw error;
      forget(xapi, ref);
      return { name: "failure", error: error as Error };
    }
  }
}

function toOutcome(ended: FlightEnd, { method }: Flight): FlightOutcome {
  if (ended.status === "success") return { name: "success" };
  const { xapi, message } = ended;
  if (xapi === undefined) return { name: "unknown", reason: message };
  const [code, ...params] = xapi;
  return { name: "failure", error: new XapiError(code, params, method) };
}

/** The object as it is now: whoever reads it can tell what it means. */
async function stateOf(
  xapi: Xapi,
  { method, object }: Flight,
): Promise<string> {
  if (object === undefined || !method.startsWith("VM."))
    return "how it ended is not known";
  try {
    const state = await xapi.call("VM.get_power_state", [object]);
    return `how it ended is not known, its VM is ${String(state)} now`;
  } catch (error) {
    return error instanceof XapiError
      ? "how it ended is not known, its VM is no more"
      : "how it ended is not known";
  }
}

/** A task that has ended is of no use to anybody. */
function forget(xapi: Xapi, ref: Ref): void {
  xapi.call("task.destroy", [ref]).catch(() => undefined);
}
