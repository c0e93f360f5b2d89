import type { CollectedState } from "./inspected-process.js";

/** What was in memory before and after a number of uses. */
export interface Growth {
  readonly name: string;
  readonly count: number;
  readonly before: CollectedState;
  readonly after: CollectedState;
}

const KIB = 1024;

/** A table in Markdown. @param objects number of kinds of objects that are listed below each row */
export function growthTable(
  growths: readonly Growth[],
  objects: number,
): string {
  const head = [
    "| what | times | heap | ArrayBuffers | resident | objects | handles and timers |",
    "| --- | --: | --: | --: | --: | --: | --: |",
  ];
  const rows = growths.map((growth) => {
    const { name, count, before, after } = growth;
    const kib = (key: keyof CollectedState["memory"]) =>
      toSigned((after.memory[key] - before.memory[key]) / KIB);
    const total = ({ objects }: CollectedState) =>
      sum(objectCounts(objects).map(([, value]) => value));
    const resources = (state: CollectedState) =>
      sum(Object.values(state.resources));
    const cells = [
      name,
      String(count),
      `${kib("heapUsed")} KiB`,
      `${kib("arrayBuffers")} KiB`,
      `${kib("rss")} KiB`,
      toSigned(total(after) - total(before)),
      toSigned(resources(after) - resources(before)),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const lists = growths.flatMap(({ before, after }) =>
    grown(before.objects, after.objects)
      .slice(0, objects)
      .map(([name, more]) => `    ${toSigned(more)} ${name}`),
  );
  return `${[...head, ...rows, ...lists].join("\n")}\n`;
}

/** Kinds of which there are more than before, most first. */
export function grown(
  before: CollectedState["objects"],
  after: CollectedState["objects"],
): readonly (readonly [name: string, more: number])[] {
  return Object.entries(after)
    .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
    .filter(([, more]) => more > 0)
    .toSorted(([, a], [, b]) => b - a);
}

/** Without the numbers of entries of collections. */
function objectCounts(objects: CollectedState["objects"]) {
  return Object.entries(objects).filter(
    ([name]) => !name.startsWith("entries of "),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function toSigned(value: number): string {
  const rounded = Math.round(value);
  return rounded > 0 ? `+${rounded}` : String(rounded);
}
