import { readFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import type { Test } from "tap";
import type { FileResult, RunFile, WaitQuestion } from "./messages.js";
import { failOnUncaughtErrors, runningTest } from "./uncaught-errors.js";
import { activeResources } from "./active-resources.js";

// Runs the files that the runner names, one after another, in this process.

register("./tap-hooks.js", import.meta.url);
const { root, runFile } = await import("./file-tap.js");

// Results go to the runner as messages. Without a destination tap would write
// to stdout and take over the process's exit.
root.pipe(new PassThrough().resume());
failOnUncaughtErrors(root);

process.on("disconnect", () => process.exit());
process.on("message", (message: RunFile | WaitQuestion) => {
  if ("path" in message) void run(message);
  else
    process.send!({
      runningTest: runningTest(root).fullname ?? "",
      resources: activeResources(),
    });
});

async function run({ path, name }: RunFile): Promise<void> {
  const start = cpuTime();
  const testdir = join(".tap", "fixtures", name.replace(/[^\w.-]+/g, "-"));
  const load = () => import(pathToFileURL(path).href);
  const test = await runFile(name, testdir, load);
  process.send!(resultOf(test, cpuTime() - start));
}

/** Milliseconds of CPU time of this process and of the programs that it started and that have ended. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + cpuOfEndedPrograms();
}

/** proc_pid_stat(5): cutime and cstime, in ticks of 10 ms; systems without /proc do not report it. */
function cpuOfEndedPrograms(): number {
  let stat: string;
  try {
    stat = readFileSync("/proc/self/stat", "utf8");
  } catch {
    return 0;
  }
  // The name of the program, in parentheses, may have spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function resultOf({ counts, lists }: Test, cpu: number): FileResult {
  return {
    passed: counts.pass,
    failed: counts.fail + counts.todo,
    skipped: lists.skip.map(({ fullname, skip }) => ({
      title: fullname,
      reason: String(skip),
    })),
    failures: [...lists.fail, ...lists.todo].map(describeFailure),
    cpu,
  };
}

type Failure = Test["lists"]["fail"][number];

function describeFailure({ fullname, diag }: Failure): string {
  const { diff, source, stack, ...rest } = (diag ?? {}) as Diagnostics;
  delete rest["at"]; // the first line of the stack
  const parts = [diff, source, stack].filter((part) => part !== undefined);
  return [`✗ ${fullname}`, ...parts, inspect(rest, { depth: 6 })].join("\n");
}

interface Diagnostics {
  readonly diff?: string;
  readonly source?: string;
  readonly stack?: string;
  [other: string]: unknown;
}
