import { UsageError } from "./bench.js";
import { benches } from "./registry.js";

const [name = "", ...args] = process.argv.slice(2);
const bench = benches.get(name);
if (name === "--list") {
  // For scripts: names alone.
  process.stdout.write(`${[...benches.keys()].join("\n")}\n`);
} else if (bench === undefined) {
  printBenches();
  process.exitCode = name === "" || name === "--help" ? 0 : 2;
} else {
  try {
    await bench.run(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(
      `${error.message}\nUsage: npm run bench -- ${name} ${bench.usage}\n`,
    );
    process.exitCode = 2;
  }
}

function printBenches(): void {
  process.stderr.write("Usage: npm run bench -- <bench> [options]\n\n");
  for (const [each, { summary, usage }] of benches)
    process.stderr.write(`${each} ${usage}\n    ${summary}\n`);
}
