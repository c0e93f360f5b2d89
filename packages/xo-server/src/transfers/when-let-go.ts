import { setTimeout as pause } from "node:timers/promises";
import { XapiError } from "@xo-server/model";

/** Pauses, in ms, in which XAPI lets go of what a stream that has ended was about. */
const PAUSES_MS = [200, 500, 1_000, 2_000, 4_000];

const BUSY: ReadonlySet<string> = new Set([
  "VDI_IN_USE",
  "OTHER_OPERATION_IN_PROGRESS",
]);

/**
 * Does something to an object that XAPI may still be busy with.
 * @throws XapiError when it is still busy after 8 s, or for another reason
 */
export async function whenLetGo<T>(run: () => Promise<T>): Promise<T> {
  for (const ms of PAUSES_MS)
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof XapiError) || !BUSY.has(error.code)) throw error;
      await pause(ms);
    }
  return run();
}
