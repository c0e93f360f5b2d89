import { setTimeout } from "node:timers/promises";
import { raiseHeapGrowth } from "@xo-server/perf";
import { median } from "../harness/figures.js";
import { openGuestFleet } from "./guest-fleet.js";
import { readJob, reportFigures } from "./job.js";
import type { QueriesJob } from "./queries-job.js";
import { questions, type Question } from "./questions.js";
import { measureWork, type WorkFigures } from "./stopwatch.js";

/** Between questions: garbage and timers of the one before are not the next one's. */
const CALM_MS = 20;

// As the server does.
raiseHeapGrowth();
const { size } = await readJob<QueriesJob>();
const { queries } = await openGuestFleet(size);
const figures: Record<string, number> = {};
report("the very first: makes all views", [
  await measureWork(() => queries.page({ type: "VM", limit: 50 })),
]);
for (const question of questions) report(question.name, await ask(question));
reportFigures(figures);

async function ask({ wordings }: Question): Promise<WorkFigures[]> {
  const taken: WorkFigures[] = [];
  for (const wording of wordings) {
    await setTimeout(CALM_MS);
    taken.push(await measureWork(() => wording(queries)));
  }
  return taken;
}

/** Figures of a line carry its name in front of a slash. */
function report(name: string, taken: readonly WorkFigures[]): void {
  const all = (figure: keyof WorkFigures) => taken.map((one) => one[figure]);
  figures[`${name}/ms`] = median(all("ms"));
  figures[`${name}/worstMs`] = Math.max(...all("ms"));
  figures[`${name}/cpuMs`] = median(all("cpuMs"));
  figures[`${name}/longestBlockMs`] = Math.max(...all("longestBlockMs"));
  figures[`${name}/longestOwnBlockMs`] = Math.max(...all("longestOwnBlockMs"));
}
