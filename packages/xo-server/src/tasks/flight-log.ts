import type { Ref } from "@xo-server/model";
import type { Clock } from "../clock.js";
import {
  FLIGHT_KEY,
  type Flight,
  type FlightEnd,
  type FlightSubject,
} from "./flight.js";
import type { StepWriter } from "./step-journal.js";

export interface FlightLogOptions {
  readonly subject: FlightSubject;
  /** Id of the part of the task that it is. */
  readonly part: string;
  readonly steps: StepWriter;
  readonly clock: Pick<Clock, "now">;
}

/** Writes down what becomes of a task of a pool: before the pool is asked, when it has told the task, and when that has ended. */
export class FlightLog {
  /** Resolves when it is written down how it ended. */
  readonly written: Promise<void>;
  readonly #key: string;
  readonly #steps: StepWriter;
  #setWritten: () => void = () => undefined;
  #flight: Flight;

  constructor({ subject, part, steps, clock }: FlightLogOptions) {
    this.#key = `${FLIGHT_KEY}${part}`;
    this.#steps = steps;
    this.#flight = { ...subject, begunAt: clock.now() };
    this.written = new Promise((resolve) => (this.#setWritten = resolve));
  }

  /** Resolves when it is written down that the pool is about to be asked. */
  begin(): Promise<void> {
    return this.#write({});
  }

  /** The pool has told its task. */
  refer(ref: Ref): void {
    void this.#write({ ref });
  }

  end(ended: FlightEnd): void {
    this.#flight = { ...this.#flight, ended };
    // The pool keeps the task until then: a server that dies before finds it.
    void this.#steps.putSoon(this.#key, this.#flight).then(this.#setWritten);
  }

  #write(news: Partial<Flight>): Promise<void> {
    this.#flight = { ...this.#flight, ...news };
    return this.#steps.put(this.#key, this.#flight);
  }
}
