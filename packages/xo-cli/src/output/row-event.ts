import type { Terminal } from "./terminal.js";
import { toCell } from "./cell.js";
import { toPlainText } from "./plain-text.js";
import { changedMembers, type RowEvent } from "../objects/watched-rows.js";
import type { Row } from "../objects/path.js";

/** A machine-readable event; `changed` lists the changed top-level members. */
export function toJsonEvent(one: RowEvent): string {
  const { event, id } = one;
  if (one.event === "remove") return JSON.stringify({ event, id });
  const { object } = one;
  return JSON.stringify(
    one.event === "add"
      ? { event, id, object }
      : { event, id, changed: changedMembers(one.before, object), object },
  );
}

/** A human-readable event: `~ db-1  power_state: Halted → Running`. */
export function toEventLine(
  colors: Terminal["colors"],
): (one: RowEvent) => string {
  return (one) => {
    const row = one.event === "remove" ? one.before : one.object;
    const label = toCell("", row["name_label"] ?? row["name"]).text;
    const name = label || one.id;
    switch (one.event) {
      case "add":
        return colors.green(`+ ${name}  ${one.id}`);
      case "remove":
        return colors.red(`- ${name}  ${one.id}`);
      case "change":
        return `${colors.yellow("~")} ${name}  ${toDifference(one.before, one.object)}`;
    }
  };
}

function toDifference(before: Row, now: Row): string {
  return differences(before, now)
    .map(([path, from, to]) => {
      const [one, other] = [toCell(path, from).text, toCell(path, to).text];
      return `${toPlainText(path)}: ${one || "–"} → ${other || "–"}`;
    })
    .join(", ");
}

type Difference = readonly [path: string, from: unknown, to: unknown];

/** Changed members, recursively. */
function differences(before: Row, now: Row, prefix = ""): Difference[] {
  return changedMembers(before, now).flatMap((name) => {
    const [from, to] = [before[name], now[name]];
    const path = prefix + name;
    return isRow(from) && isRow(to)
      ? differences(from, to, `${path}.`)
      : [[path, from, to] as const];
  });
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
