import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { Report } from "./report.js";
import { runFiles } from "./run-files.js";
import { changedTests, isUsual, testsOfCi } from "./selection.js";
import { allTestFiles, testFilesAt, type TestFile } from "./test-files.js";

// node test/dist/run/main.js [--all | --changed | --ci REVISION | FILE or FOLDER...]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean" },
    changed: { type: "boolean" },
    ci: { type: "string" },
  },
});
const files = selectFiles();
if (!values.all && positionals.length === 0) {
  // A day's run tries a quarter of the random inputs; see seeds.ts of the tests.
  const day = Math.floor(Date.now() / 86_400_000);
  const seed = (process.env["XO_TEST_SEED"] ??= String(day));
  console.log(`XO_TEST_SEED=${seed} repeats this run's choice of seeds`);
}
const old = files.filter(({ compiled }) => !existsSync(compiled));
if (old.length > 0)
  throw new Error(`not compiled, run npm run compile: ${old[0]!.source}`);
const report = new Report();
await runFiles(files, (file, outcome) => report.add(file, outcome));
report.end(performance.now() / 1000);
process.exitCode = report.ok ? 0 : 1;

function selectFiles(): TestFile[] {
  if (positionals.length > 0) return positionals.flatMap(testFilesAt);
  const files = allTestFiles();
  if (values.all) return files;
  if (values.changed) return changedTests(files);
  if (values.ci !== undefined) return testsOfCi(files, values.ci);
  return files.filter(isUsual);
}
