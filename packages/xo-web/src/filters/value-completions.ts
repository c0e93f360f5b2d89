import type { Messages } from "../locale/messages.js";
import type { CaretTerm } from "./caret-term.js";
import type { Completion, CompletionInput, KnownValue } from "./completion.js";
import type { Property } from "./properties.js";
import { fromUnit, unitsOf } from "./units.js";
import { valueText, wordText } from "./value-text.js";

const MAX_COMPLETIONS = 50;

/** Values of a property that match the typed text. */
export function valuesOf(
  property: Property,
  { typed }: CaretTerm,
  input: CompletionInput,
): Completion[] {
  switch (property.kind) {
    case "number":
      return typed === ""
        ? comparisons(input.messages)
        : numbers(property, typed);
    case "time":
      return times(input);
    case "choice":
      return known(
        property.choices!.map((value) => withCount(value, input.values)),
        typed,
      );
    case "boolean":
    case "object":
    case "text":
      return known(input.values, typed);
  }
}

function withCount(value: string, counted: readonly KnownValue[]): KnownValue {
  return counted.find((one) => one.value === value) ?? { value };
}

function known(values: readonly KnownValue[], typed: string): Completion[] {
  const requested = typed.toLowerCase();
  const all = values.map(({ value }) => value);
  return values
    .filter(({ value, label = "" }) =>
      `${value}\n${label}`.toLowerCase().includes(requested),
    )
    .slice(0, MAX_COMPLETIONS)
    .map(({ value, label, count }) => ({
      group: "value",
      insert: label === undefined ? valueText(value, all) : wordText(value),
      label: label ?? value,
      detail: count === undefined ? "" : String(count),
      isOpen: false,
    }));
}

function comparisons({ operators }: Messages["filters"]): Completion[] {
  const signs = [">", ">=", "<", "<="] as const;
  const names = ["above", "atLeast", "below", "atMost"] as const;
  return signs.map((sign, at) => ({
    group: "operator",
    insert: sign,
    label: sign,
    detail: operators[names[at]!],
    isOpen: true,
  }));
}

/** A number with the units that the user may mean. */
export function numbers(property: Property, typed: string): Completion[] {
  const number = typed === "" ? examples(property) : [Number(typed)];
  return number.filter(Number.isFinite).flatMap((value) =>
    unitsOf(property)
      .filter(({ factor }) => factor !== 1)
      .slice(0, typed === "" ? 1 : 3)
      .map((unit) => ({
        group: "value" as const,
        insert:
          property.unit === "bytes"
            ? `${value}${unit.name}`
            : String(fromUnit(value, unit)).replace("e+", "e"),
        label: `${value} ${unit.name}`,
        detail: String(fromUnit(value, unit)),
        isOpen: false,
      })),
  );
}

function examples({ unit }: Property): number[] {
  if (unit === "share") return [50, 80, 90, 95];
  return unit === "bytes"
    ? [1, 4, 8, 16, 64]
    : unit === "rate"
      ? [1, 10, 100]
      : [];
}

/** Start times of "since ..." conditions. */
function times({ now, messages }: CompletionInput): Completion[] {
  const hour = 3600;
  const since = {
    hour,
    day: 24 * hour,
    week: 7 * 24 * hour,
    month: 30 * 24 * hour,
  };
  const recent = Object.entries(since).map(([name, seconds]) =>
    time(`>${now - seconds}`, messages.times[name as keyof typeof since]),
  );
  return [...recent, time(`<${now - since.month}`, messages.times.before)];
}

function time(insert: string, label: string): Completion {
  return { group: "value", insert, label, detail: insert, isOpen: false };
}
