import { MissingPatches } from "../updates/missing-patches.js";
import { PatchWatch } from "../updates/patch-watch.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Core } from "./start-core.js";

/** Updates of hosts, and the check for new ones a few times a day. */
export interface Updates {
  readonly missingPatches: MissingPatches;
  readonly patchWatch: PatchWatch;
}

/** Starts the check for updates. */
export function startUpdates(
  { clock, inventory, objects, pools, views }: Core,
  stops: StopStack,
): Updates {
  const missingPatches = new MissingPatches(clock);
  const patchWatch = new PatchWatch({
    patches: missingPatches,
    queries: views.queries,
    objects,
    inventory,
    listPools: () => pools.listSummaries(),
    clock,
  });
  patchWatch.start();
  stops.push("checks for updates", () => {
    patchWatch.stop();
  });
  return { missingPatches, patchWatch };
}
