import { setTimeout as pause } from "node:timers/promises";
import { XapiError } from "@xo-server/model";

/**
 * Delays between retries, in ms: XAPI releases an object only some time after
 * its stream has ended.
 */
const PAUSES_MS = [200, 500, 1_000, 2_000, 4_000];

const BUSY: ReadonlySet<string> = new Set([
  "VDI_IN_USE",
  "OTHER_OPERATION_IN_PROGRESS",
]);

/**
 * Retries as long as XAPI reports that the object is in use.
 * @throws XapiError if the object is still in use after 8 s, or another error
 */
export async function retryWhileInUse<T>(run: () => Promise<T>): Promise<T> {
  for (const ms of PAUSES_MS)
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof XapiError) || !BUSY.has(error.code)) throw error;
      await pause(ms);
    }
  return run();
}
