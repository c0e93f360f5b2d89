import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Report } from "./result.js";

/** What a bench leaves behind: file name to text. */
type Documents = Readonly<Record<string, string>>;

/** Writes all documents into a folder, which is made when missing. */
export async function publish(
  folder: string,
  documents: Documents,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(documents))
    await writeFile(join(folder, name), text);
}

interface Destination {
  /** Undefined: nowhere. */
  readonly out: string | undefined;
  /** The documents of a smoke run are checked and deleted. */
  readonly smoke: boolean;
}

/** Writes the documents of a run, and prints their paths. */
export async function publishRun(
  documents: Documents,
  { out, smoke }: Destination,
): Promise<void> {
  const folder = smoke ? await mkdtemp(join(tmpdir(), "xo-bench-")) : out;
  if (folder === undefined) return;
  await publish(folder, documents);
  process.stderr.write(`written to ${folder}\n`);
}

/** Writes the JSON of a report to the path of the user. */
export async function writeReport(file: string, report: Report): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, reportText(report));
}

/** One result a line: a diff of two runs shows which rows moved. */
export function reportText({ results, ...about }: Report): string {
  const head = JSON.stringify(about, null, 2).slice(1, -2);
  const lines = results.map((result) => `    ${JSON.stringify(result)}`);
  return `{\n  "results": [\n${lines.join(",\n")}\n  ],${head}\n}\n`;
}
