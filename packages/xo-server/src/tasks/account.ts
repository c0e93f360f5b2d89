import type { FlightOutcome } from "./flight-watch.js";
import type { Flight } from "./flight.js";

/** A flight of a task that was interrupted, and what became of it. */
export interface Landed {
  readonly flight: Flight;
  readonly outcome: FlightOutcome;
}

/** Names of one kind, at most: a task may have had thousands of flights. */
const MOST_NAMED = 20;

/** Says precisely what was done of a task that nobody goes on with. */
export function accountOf(landed: readonly Landed[]): string {
  const wasDone = ({ flight }: Landed) => flight.ended?.status === "success";
  const is = (name: FlightOutcome["name"]) => (one: Landed) =>
    one.outcome.name === name && !wasDone(one);
  return [
    ...list(landed, "done before", wasDone),
    ...list(landed, "finished by the pool since", is("success")),
    ...list(landed, "failed", is("failure"), reasonOf),
    ...list(landed, "outcome not known", is("unknown"), reasonOf),
    ...list(landed, "not begun", is("not-begun")),
    landed.length === 0
      ? "the pool was asked for nothing that takes a task"
      : "what comes after these was not begun",
  ].join("; ");
}

function list(
  landed: readonly Landed[],
  label: string,
  test: (one: Landed) => boolean,
  reason: (one: Landed) => string = () => "",
): string[] {
  const all = landed.filter(test);
  if (all.length === 0) return [];
  const named = all.slice(0, MOST_NAMED).map((one) => {
    const why = reason(one);
    return why === "" ? one.flight.method : `${one.flight.method} (${why})`;
  });
  const more =
    all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : "";
  return [`${label}: ${named.join(", ")}${more}`];
}

function reasonOf({ outcome }: Landed): string {
  if (outcome.name === "failure") return outcome.error.message;
  return outcome.name === "unknown" ? outcome.reason : "";
}
