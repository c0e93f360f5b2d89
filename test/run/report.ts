import type { Outcome } from "./child-process.js";
import type { Skipped } from "./messages.js";
import type { TestFile } from "./test-files.js";

/** Files in a list; XO_TEST_ROWS overrides it. */
const SLOWEST = 15;

interface Row {
  readonly source: string;
  readonly time: number;
  readonly cpu: number;
  readonly passed: number;
}

/** Prints failures as they come, and at the end the slowest files, skips and totals. */
export class Report {
  readonly #rows: Row[] = [];
  readonly #skipped: Skipped[] = [];
  readonly #failedFiles: string[] = [];
  #passed = 0;
  #failed = 0;

  get ok(): boolean {
    return this.#failed === 0 && this.#rows.length > 0;
  }

  add({ source }: TestFile, { result, crash, output, time }: Outcome): void {
    const passed = result?.passed ?? 0;
    // A file without any assertion has not been run, whatever the reason.
    const empty =
      result && passed + result.failed + result.skipped.length === 0
        ? "has no assertions"
        : undefined;
    const broken = crash ?? empty;
    const failed = broken === undefined ? result!.failed : 1;
    this.#rows.push({ source, time, cpu: result?.cpu ?? 0, passed });
    this.#passed += passed;
    this.#failed += failed;
    this.#skipped.push(...(result?.skipped ?? []));
    if (failed === 0) return;
    this.#failedFiles.push(source);
    print(`\nFAILED ${source}`);
    if (broken !== undefined) print(`${source} ${broken}`);
    for (const failure of result?.failures ?? []) print(failure);
    if (output !== "") print(`output of ${source}:\n${output}`);
  }

  end(seconds: number): void {
    print(`\nSlowest of ${this.#rows.length} files (seconds, CPU seconds):`);
    this.#printRows(this.#rows.toSorted((a, b) => b.time - a.time));
    print(`\nMost CPU time (seconds, CPU seconds):`);
    this.#printRows(this.#rows.toSorted((a, b) => b.cpu - a.cpu));
    if (this.#skipped.length > 0) print("\nSkipped:");
    for (const { title, reason } of this.#skipped)
      print(`  ${title}: ${reason}`);
    if (this.#failedFiles.length > 0) print("\nFailed:");
    for (const source of this.#failedFiles) print(`  ${source}`);
    const cpu = this.#rows.reduce((sum, row) => sum + row.cpu, 0) / 1000;
    print(`\nin ${Math.round(seconds)} s, ${Math.round(cpu)} CPU s`);
    print(
      `${this.#passed} passed, ${this.#failed} failed, ${this.#skipped.length} skipped`,
    );
  }

  #printRows(rows: readonly Row[]): void {
    const shown = process.env["XO_TEST_ROWS"] ?? SLOWEST;
    for (const { source, time, cpu } of rows.slice(0, Number(shown)))
      print(`${inSeconds(time)} ${inSeconds(cpu)}  ${source}`);
  }
}

function inSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1).padStart(7);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
