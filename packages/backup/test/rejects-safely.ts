import type { Test } from "tap";

/** A promise is rejected with a code, and its message and stack have no secret. */
export async function rejectsSafely(
  t: Test,
  promise: Promise<unknown>,
  code: string,
  message: RegExp,
): Promise<void> {
  const error = (await promise.then(
    () => t.fail("it succeeds"),
    (error: unknown) => error,
  )) as Error;
  t.match(error, { code, message });
  t.notMatch(String(error.stack), /secret/);
}
