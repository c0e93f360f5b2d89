import {
  compileFilter,
  createObjectFilter,
  parseFilter,
  type Group,
  type Selection,
} from "@xo-server/inventory";
import { canonical, type FakeObject } from "./fake-view-table.js";

/** As the specification says, with the simplest means: the whole list, filtered and sorted. */
export function select(
  objects: readonly FakeObject[],
  selection: Selection,
  searched: readonly string[],
): FakeObject[] {
  const holds = compileFilter(parseFilter(selection.filter ?? ""));
  const words = (selection.search ?? "").toLowerCase().split(" ");
  const sort = selection.sort ?? [{ by: "name_label" }];
  return objects
    .filter((object) => object.type === selection.type && holds(object))
    .filter(createObjectFilter(selection.pattern ?? {}))
    .filter((object) => selection.where?.(object) ?? true)
    .filter((object) =>
      words.every((word) =>
        searched.some((path) => textOf(read(object, path)).includes(word)),
      ),
    )
    .sort((a, b) => {
      for (const { by, descending = false } of sort) {
        const order = compare(read(a, by), read(b, by), descending);
        if (order !== 0) return order;
      }
      return a.id < b.id ? -1 : 1;
    });
}

export function groups(objects: readonly FakeObject[], by: string): Group[] {
  const counts = new Map<string, Group>();
  for (const object of objects) {
    const value = read(object, by);
    const keys: readonly unknown[] = Array.isArray(value)
      ? value.length === 0
        ? [undefined]
        : [...new Set<unknown>(value)]
      : [value];
    for (const key of keys) {
      const text = String(canonical(key));
      counts.set(text, { key, count: (counts.get(text)?.count ?? 0) + 1 });
    }
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
}

export function project(
  object: FakeObject,
  fields: readonly string[] | undefined,
): unknown {
  const { now, ...own } = object;
  if (fields === undefined) return own;
  const measured = Object.entries(now ?? {}).filter(
    ([key]) => fields.includes("now") || fields.includes(`now.${key}`),
  );
  return {
    ...Object.fromEntries(
      Object.entries(own).filter(([key]) => fields.includes(key)),
    ),
    ...(measured.length === 0 ? {} : { now: Object.fromEntries(measured) }),
  };
}

function read(object: unknown, path: string): unknown {
  let value = object;
  for (const part of path.split("."))
    value = (value as Record<string, unknown> | null | undefined)?.[part];
  return value;
}

function textOf(value: unknown): string {
  return Array.isArray(value)
    ? value.join("\n").toLowerCase()
    : typeof value === "string"
      ? value.toLowerCase()
      : "";
}

const collator = new Intl.Collator("en", {
  numeric: true,
  sensitivity: "base",
});

/** Of texts by the collator: with the names of these tests, the order that is promised. */
function compare(a: unknown, b: unknown, descending: boolean): number {
  const hasA = a !== undefined && a !== null && !isEmpty(a);
  const hasB = b !== undefined && b !== null && !isEmpty(b);
  if (!hasA || !hasB) return Number(hasB) - Number(hasA);
  const order =
    typeof a === "string" && typeof b === "string"
      ? collator.compare(a, b)
      : compareOthers(a, b);
  return descending ? -order : order;
}

function compareOthers(a: unknown, b: unknown): number {
  const x = Array.isArray(a) ? a.join("\0") : (a as number);
  const y = Array.isArray(b) ? b.join("\0") : (b as number);
  return x === y ? 0 : x < y ? -1 : 1;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
