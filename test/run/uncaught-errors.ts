import type { Test } from "tap";

type AnyTest = Pick<Test, "hookDomain"> &
  Partial<Pick<Test, "activeSubtests" | "fullname">>;

/**
 * Assigns uncaught errors to the test that runs now: it fails. A test that listens
 * for such errors itself receives them instead.
 * @param root of all tests of this process
 */
export function failOnUncaughtErrors(root: Test): void {
  process.on("uncaughtException", (error: unknown, how) => {
    if (process.listenerCount("uncaughtException") > 1) return;
    runningTest(root).hookDomain.onerror(error, how);
  });
}

/** The innermost test that has started and not ended. */
export function runningTest(test: AnyTest): AnyTest {
  const active = Array.from(test.activeSubtests ?? []);
  const running = active.findLast(({ results }) => results === undefined);
  return running === undefined ? test : runningTest(running);
}
