import { XapiError, XoError } from "@xo-server/model";
import { pause } from "@xo-server/kit";
import type { AutomaticSettings } from "./automatic-settings.js";
import { notRestored } from "./not-restored.js";
import type { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import { turnsLeft } from "./rolling-record.js";

const RESTORE_TRIES = 3;
/** Pause between attempts to restore HA and auto power-on, in ms. */
const RESTORE_AGAIN_MS = 5_000;

/**
 * Stores where a run has stopped, and restores HA and auto power-on, also after a
 * cancellation.
 * @returns what could not be restored, and what to do; undefined: everything is as
 * before the run
 */
export async function stopRun(
  error: Error,
  journal: RollingJournal,
  settings: AutomaticSettings,
  { objects, work, clock }: RollingParts,
): Promise<string | undefined> {
  const stopped = `${journal.at}: ${error.message}`;
  const keep = (change: Parameters<RollingJournal["keep"]>[0]) =>
    journal
      .keep(change)
      .then(() => journal.keepLast())
      .catch((cause: unknown) => {
        const { message } = cause as Error;
        work.warn(`where it stopped could not be persisted: ${message}`);
      });
  await keep({ stopped, suspension: undefined });
  try {
    await retried(() => settings.restore(objects.untracked), clock);
    return undefined;
  } catch (cause) {
    const left = notRestored(cause as Error, journal.record, objects);
    work.warn(left);
    await keep({ stopped: `${stopped}; ${left}` });
    return left;
  }
}

/**
 * Retries while the pool does not answer properly. Settings that are already
 * restored are skipped.
 */
async function retried(
  run: () => Promise<void>,
  clock: RollingParts["clock"],
): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await run();
      return;
    } catch (error) {
      // The pool would refuse it again.
      if (error instanceof XapiError || tries === RESTORE_TRIES) throw error;
      await pause(clock, RESTORE_AGAIN_MS);
    }
}

/**
 * The error of a run that stopped, for clients: where and why it stopped, and the
 * remaining hosts.
 * @param left what could not be restored
 */
export function toStop(
  error: Error,
  { record, kind, at }: RollingJournal,
  { objects }: Pick<RollingParts, "objects">,
  notRestored?: string,
): XoError {
  let left: string[] | undefined;
  try {
    left = turnsLeft(record, objects).map(({ host }) => host);
  } catch {
    // The pool cannot be read: the error does not list the remaining hosts.
  }
  const hosts = record.turns.map(({ host }) => host);
  const done = left && hosts.filter((host) => !left.includes(host));
  const reasons = [error.message, ...(notRestored ? [notRestored] : [])];
  const data = {
    what: `the rolling ${kind}`,
    where: at,
    reason: reasons.join("; "),
    cause: toCause(error),
    done,
    left,
    ...(notRestored && { notRestored }),
  };
  return new XoError("STOPPED_MIDWAY", data, error);
}

function toCause(error: Error): object {
  if (error instanceof XapiError)
    return { code: error.code, params: error.params };
  return error instanceof XoError ? { code: error.code, data: error.data } : {};
}
