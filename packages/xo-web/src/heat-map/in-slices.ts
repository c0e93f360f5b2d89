/** Work in steps of about 100 µs, with a result. */
export type Steps<T> = Generator<void, T, void>;

/** Maximum duration of a slice, in ms. */
const SLICE_MS = 5;

/**
 * Works in slices without blocking the page.
 * @param isCurrent called between slices; false aborts
 * @returns undefined: aborted
 */
export async function inSlices<T>(
  steps: Steps<T>,
  isCurrent: () => boolean,
): Promise<T | undefined> {
  for (;;) {
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
    await nextTurn();
    if (!isCurrent()) return undefined;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
