import type { Steps } from "@xo-server/inventory";

/** Does steps one after another, and counts them. */
export function slices() {
  const counted = {
    steps: 0,
    runInSlices: async (_lane: string, steps: Steps) => {
      for (;;) {
        counted.steps++;
        if (steps.next().done === true) return;
        await Promise.resolve();
      }
    },
  };
  return counted;
}
