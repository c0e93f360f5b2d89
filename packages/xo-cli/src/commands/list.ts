import { Command, InvalidArgumentError } from "commander";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { columnsOf, toType } from "../objects/object-types.js";
import { namedObjects } from "../objects/object-names.js";
import { pick, topLevel, valueAt, type Row } from "../objects/path.js";
import {
  readObjects,
  type ObjectQuery,
  type SortKey,
} from "../objects/read-objects.js";
import { toCell } from "../output/cell.js";
import { toTable, type Column } from "../output/table.js";

interface ListOptions {
  readonly filter?: string;
  readonly fields?: readonly string[];
  readonly sort?: readonly SortKey[];
  readonly limit?: number;
}

/** `xo-cli list`: prints a table, or an array with `--json`, page by page. */
export function listCommand(run: Run): Command {
  return new Command("list")
    .description("list objects, optionally of one type")
    .argument("[type]", "VM, host, pool, SR, network, VDI, ...")
    .option("--filter <filter>", "such as 'power_state:running tags:(a b)'")
    .option("--fields <names>", "such as name_label,memory.size", toNames)
    .option("--sort <names>", "such as power_state,-memory.size", toSort)
    .option("--limit <number>", "maximum number of objects", toCount)
    .action((type: string | undefined, options: ListOptions, command) => {
      run(command as Command, (context) => list(context, type, options));
    });
}

async function list(
  context: Context,
  name: string | undefined,
  { filter, fields, sort = [], limit }: ListOptions,
): Promise<void> {
  const { terminal } = context;
  const type = name === undefined ? undefined : toType(name);
  const paths =
    fields ?? (terminal.json ? undefined : defaultColumns(type, sort));
  const fieldNames = paths === undefined ? undefined : topLevel(paths);
  const question = { type, filter, sort, limit, fields: fieldNames };
  const rpc = await (await context.server()).signIn();
  const notes: Promise<void>[] = [];
  const pages = readObjects(rpc, question satisfies ObjectQuery, () => {
    const text =
      "note: pools are still being loaded, there may be more objects";
    notes.push(terminal.note(text));
  });
  if (terminal.json || paths === undefined)
    await printJson(context, pages, paths);
  else {
    const heads = paths.map((title, at) => ({
      title,
      isKept: title === "id",
      // Requested columns are always shown.
      isOptional: fields === undefined && at > 0 && title !== "id",
    }));
    const named = paths.includes("$pool")
      ? withPoolNames(pages, await namedObjects(rpc, { type: "pool" }))
      : pages;
    await printTable(context, named, heads);
  }
  await Promise.all(notes);
}

/** The columns of a type, and those that the list is sorted by. */
function defaultColumns(
  type: string | undefined,
  sort: readonly SortKey[],
): readonly string[] {
  const columns = columnsOf(type);
  const more = sort.map(({ by }) => by).filter((by) => !columns.includes(by));
  return columns.toSpliced(columns.indexOf("id"), 0, ...more);
}

/** Replaces the id of the pool by its name. */
async function* withPoolNames(
  pages: AsyncIterable<readonly Row[]>,
  pools: readonly Row[],
): AsyncGenerator<readonly Row[]> {
  const names = new Map(pools.map(({ id, name_label }) => [id, name_label]));
  for await (const rows of pages)
    yield rows.map((row) => ({
      ...row,
      $pool: names.get(row["$pool"]) ?? row["$pool"],
    }));
}

/** Prints an array with one row per line, page by page. */
async function printJson(
  { terminal }: Context,
  pages: AsyncIterable<readonly Row[]>,
  paths: readonly string[] | undefined,
): Promise<void> {
  let before = "[\n";
  for await (const rows of pages) {
    const lines = rows.map((row) =>
      JSON.stringify(paths === undefined ? row : pick(row, paths)),
    );
    if (lines.length === 0) continue;
    await terminal.write(before + lines.join(",\n"));
    before = ",\n";
  }
  await terminal.write(before === "[\n" ? "[]\n" : "\n]\n");
}

async function printTable(
  { terminal }: Context,
  pages: AsyncIterable<readonly Row[]>,
  heads: readonly Column[],
): Promise<void> {
  const all: Row[] = [];
  for await (const rows of pages) all.push(...rows);
  if (all.length === 0) {
    await terminal.note("No matching objects");
    return;
  }
  const cells = all.map((row) =>
    heads.map(({ title }) => toCell(title, valueAt(row, title))),
  );
  const [head, ...lines] = toTable(heads, cells, terminal.columns);
  await terminal.line([terminal.colors.bold(head), ...lines].join("\n"));
}

/** A list of properties, separated by commas. @throws InvalidArgumentError an empty name */
export function toNames(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => name !== "")) return names;
  throw new InvalidArgumentError(
    "Must be a list such as name_label,memory.size.",
  );
}

function toSort(text: string): SortKey[] {
  return toNames(text).map((name) =>
    name.startsWith("-")
      ? { by: name.slice(1), descending: true }
      : { by: name },
  );
}

function toCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be an integer.");
}
