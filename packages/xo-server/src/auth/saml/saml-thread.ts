import { Worker } from "node:worker_threads";
import { XoError } from "@xo-server/model";
import type { SamlRequest, SamlVerdict } from "./saml-worker.js";

/** A response of a usual size takes 0.1 s. */
const TIMEOUT_MS = 5_000;
const MAX_HEAP_MIB = 128;

/**
 * Verifies a response in a thread of its own: XML signatures take CPU time that grows with
 * the square of the number of elements, and the response comes from anonymous clients.
 * @throws XoError CREDENTIALS_INVALID: it takes too much time or memory
 */
export async function verifyInThread(
  request: SamlRequest,
): Promise<SamlVerdict> {
  const worker = new Worker(new URL("./saml-worker.js", import.meta.url), {
    execArgv: [],
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<SamlVerdict>((resolve, reject) => {
      const fail = (reason: string, cause?: Error) => {
        reject(new XoError("CREDENTIALS_INVALID", { reason }, cause));
      };
      timer = setTimeout(() => {
        fail(`the response was not verified within ${TIMEOUT_MS} ms`);
      }, TIMEOUT_MS);
      worker.once("message", resolve);
      worker.once("error", (error) => {
        fail("the response of the identity provider cannot be verified", error);
      });
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
