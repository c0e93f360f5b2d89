import { XoError } from "@xo-server/model";
import { accountOf, type Landed } from "./account.js";
import type { FlightOutcome, FlightWatch } from "./flight-watch.js";
import { FLIGHT_KEY, type Flight } from "./flight.js";
import type { TaskNode } from "./task-node.js";
import type { Work } from "./work.js";

/** What is known of the last run, for an operation that goes on. */
export interface Recalled {
  /** What was kept in small pieces, by key. */
  readonly steps: ReadonlyMap<string, unknown>;
  /**
   * Waits for what pools still do; what they have ended is told as well.
   * @param part id of the part that is meant, with its parts; absent: all
   * @param into where its flights show; absent: where they did
   */
  land(part?: string, into?: Work): Promise<readonly Landed[]>;
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

  land(part?: string, into?: Work): Promise<readonly Landed[]> {
    const meant = [...this.flights].filter(
      ([id]) => part === undefined || id === part || id.startsWith(`${part}.`),
    );
    return Promise.all(
      meant.map(([id, flight]) => {
        const name = `XAPI: ${flight.method}`;
        return into === undefined
          ? this.#landIn(
              this.#work.find(id) ?? this.#work.addPart(name, id),
              flight,
            )
          : this.#landAsPart(name, flight, into);
      }),
    );
  }

  async #landIn(part: TaskNode, flight: Flight): Promise<Landed> {
    const outcome = await this.#watch.outcome(flight, part);
    if (part.status !== "pending") return { flight, outcome };
    const error = errorOf({ flight, outcome });
    if (error === undefined) part.succeed(undefined);
    else if (outcome.name === "failure") part.fail(error);
    else part.interrupt(error);
    return { flight, outcome };
  }

  async #landAsPart(name: string, flight: Flight, into: Work): Promise<Landed> {
    let outcome: FlightOutcome = { name: "not-begun" };
    const run = async (part: Work) => {
      outcome = await this.#watch.outcome(flight, part);
      const error = errorOf({ flight, outcome });
      if (error !== undefined) throw error;
    };
    await into.part(name, run).catch(() => undefined);
    return { flight, outcome };
  }
}

function errorOf(landed: Landed): Error | undefined {
  const { outcome } = landed;
  if (outcome.name === "success") return undefined;
  if (outcome.name === "failure") return outcome.error;
  return new XoError("INTERRUPTED", { reason: accountOf([landed]) });
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
