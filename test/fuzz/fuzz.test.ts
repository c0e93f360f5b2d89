import { join } from "node:path";
import t from "tap";
import { Fuzzer } from "./run-fuzzer.js";
import { fuzzTargets } from "./targets.js";

// Some seconds for each target. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=900000");
const LIMIT = { timeout: 120_000 };
const SECONDS = 5;

for (const target of fuzzTargets())
  t.test(`${target.name}: no crash, hang or leak`, LIMIT, async (t) => {
    const out = join(t.testdir({}), target.name);
    const seed = Math.floor(Date.now() / 1000);
    const result = await new Fuzzer({
      ...target,
      out,
      seconds: SECONDS,
      seed,
    }).run();
    t.comment(
      `seed ${seed}: ${result.executions} inputs, ${result.coverage} branches`,
    );
    t.same(result.findings, []);
    t.ok(result.executions > 0);
  });
