import { XoError } from "@xo-server/model";
import { accountOf, type Landed } from "./account.js";
import type { FlightWatch } from "./flight-watch.js";
import { FLIGHT_KEY, type Flight } from "./flight.js";
import type { TaskNode } from "./task-node.js";

/** What is known of the last run, for an operation that goes on. */
export interface Recalled {
  /** What was kept in small pieces, by key. */
  readonly steps: ReadonlyMap<string, unknown>;
  /**
   * Waits for what pools still do; what they have ended is told as well.
   * @param part id of the part that is meant, with its parts; absent: all
   */
  land(part?: string): Promise<readonly Landed[]>;
}

/** Flights of a task of the last run. */
export class RecalledFlights implements Recalled {
  readonly steps: ReadonlyMap<string, unknown>;
  /** By the ids of the parts that they are, the first begun first. */
  readonly flights: ReadonlyMap<string, Flight>;
  readonly #work: TaskNode;
  readonly #watch: FlightWatch;

  constructor(
    work: TaskNode,
    steps: ReadonlyMap<string, unknown>,
    watch: FlightWatch,
  ) {
    this.steps = steps;
    this.flights = flightsIn(steps);
    this.#work = work;
    this.#watch = watch;
  }

  land(part?: string): Promise<readonly Landed[]> {
    const meant = [...this.flights].filter(
      ([id]) => part === undefined || id === part || id.startsWith(`${part}.`),
    );
    return Promise.all(meant.map(([id, flight]) => this.#landOne(id, flight)));
  }

  async #landOne(id: string, flight: Flight): Promise<Landed> {
    const part =
      this.#work.find(id) ?? this.#work.addPart(`XAPI: ${flight.method}`, id);
    const outcome = await this.#watch.outcome(flight, part);
    if (part.status !== "pending") return { flight, outcome };
    if (outcome.name === "success") part.succeed(undefined);
    else if (outcome.name === "failure") part.fail(outcome.error);
    else {
      const reason = accountOf([{ flight, outcome }]);
      part.interrupt(new XoError("INTERRUPTED", { reason }));
    }
    return { flight, outcome };
  }
}

function flightsIn(
  steps: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, Flight> {
  const flights: [string, Flight][] = [];
  for (const [key, flight] of steps)
    if (key.startsWith(FLIGHT_KEY))
      flights.push([key.slice(FLIGHT_KEY.length), flight as Flight]);
  return new Map(flights.sort(([, a], [, b]) => a.begunAt - b.begunAt));
}
