import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../run/test-files.js";
import { Fuzzer } from "./run-fuzzer.js";
import { fuzzTargets } from "./targets.js";

// npm run fuzz -- TARGET... | all [--minutes N] [--seed S]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1e6) },
  },
});
const targets = fuzzTargets();
const names = targets.map(({ name }) => name);
const chosen = positionals.includes("all") ? names : positionals;
const unknown = chosen.find((name) => !names.includes(name));
if (chosen.length === 0 || unknown !== undefined) {
  process.stderr.write(
    `${unknown === undefined ? "" : `unknown target ${unknown}\n`}Usage: npm run fuzz -- all | ${names.join(" | ")} [--minutes N] [--seed S]\n`,
  );
  process.exit(64);
}
let findings = 0;
for (const target of targets.filter(({ name }) => chosen.includes(name))) {
  const { name } = target;
  const out = join(ROOT, ".fuzz", name);
  const minutes = Number(values.minutes);
  const fuzzer = new Fuzzer({
    ...target,
    out,
    seconds: minutes * 60,
    seed: Number(values.seed),
  });
  const result = await fuzzer.run();
  findings += result.findings.length;
  const { executions, coverage, corpus, slowest } = result;
  const toMib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  process.stdout.write(
    `${name}: ${minutes} min, seed ${values.seed}, ${executions} inputs, ${coverage} branches, corpus of ${corpus}, heap ${toMib(result.heapGrowthBytes)}, at most ${toMib(result.maxRssBytes)} resident, slowest input ${slowest.cpuMs.toFixed(1)} ms of CPU time (${slowest.name}), ${result.findings.length} findings\n`,
  );
  for (const { kind, file = "", detail } of result.findings)
    process.stdout.write(`  ${kind} ${file}\n${detail}\n`);
}
process.exit(findings === 0 ? 0 : 1);
