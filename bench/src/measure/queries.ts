import { setTimeout } from "node:timers/promises";
import { raiseHeapGrowth } from "@xo-server/perf";
import { median } from "../harness/figures.js";
import { openGuestFleet } from "./guest-fleet.js";
import { readJob, reportFigures } from "./job.js";
import type { QueriesJob } from "./queries-job.js";
import { measureWork, type WorkFigures } from "./stopwatch.js";
import { typicalQueries, type TypicalQuery } from "./typical-queries.js";

/** Pause in ms between queries, so that garbage collection and timers of one are not measured with the next. */
const PAUSE_MS = 20;

// As the server does.
raiseHeapGrowth();
const { size } = await readJob<QueriesJob>();
const { queries } = await openGuestFleet(size);
const figures: Record<string, number> = {};
report("the first query: builds all views", [
  await measureWork(() => queries.page({ type: "VM", limit: 50 })),
]);
for (const query of typicalQueries) report(query.name, await measure(query));
reportFigures(figures);

async function measure({ variants }: TypicalQuery): Promise<WorkFigures[]> {
  const taken: WorkFigures[] = [];
  for (const run of variants) {
    await setTimeout(PAUSE_MS);
    taken.push(await measureWork(() => run(queries)));
  }
  return taken;
}

/** Names of figures begin with the name of the row and a slash. */
function report(name: string, taken: readonly WorkFigures[]): void {
  const all = (figure: keyof WorkFigures) => taken.map((one) => one[figure]);
  figures[`${name}/ms`] = median(all("ms"));
  figures[`${name}/worstMs`] = Math.max(...all("ms"));
  figures[`${name}/cpuMs`] = median(all("cpuMs"));
  figures[`${name}/longestBlockMs`] = Math.max(...all("longestBlockMs"));
  figures[`${name}/longestOwnBlockMs`] = Math.max(...all("longestOwnBlockMs"));
}
