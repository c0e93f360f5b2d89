import { XapiError, XoError } from "@xo-server/model";
import type { AutomaticSettings } from "./automatic-settings.js";
import type { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import { turnsLeft } from "./rolling-record.js";

/** Stores where a run has stopped, and restores HA and auto power-on, also if it was cancelled. */
export async function stopRun(
  error: Error,
  journal: RollingJournal,
  settings: AutomaticSettings,
  { objects, work }: RollingParts,
): Promise<void> {
  const stopped = `${journal.at}: ${error.message}`;
  await journal
    .keep({ stopped, suspension: undefined })
    .then(() => journal.keepLast())
    .catch((cause: unknown) => {
      const { message } = cause as Error;
      work.warn(`where it stopped could not be persisted: ${message}`);
    });
  await settings.restore(objects.untracked).catch((cause: unknown) => {
    const { message } = cause as Error;
    work.warn(`HA or auto power-on is still disabled: ${message}`);
  });
}

/** What clients get of a run that stopped: where, why, which hosts are left. */
export function toStop(
  error: Error,
  { record, kind, at }: RollingJournal,
  { objects }: Pick<RollingParts, "objects">,
): XoError {
  let left: string[] | undefined;
  try {
    left = turnsLeft(record, objects).map(({ host }) => host);
  } catch {
    // The pool cannot be read: the error does not list the remaining hosts.
  }
  const hosts = record.turns.map(({ host }) => host);
  const done = left && hosts.filter((host) => !left.includes(host));
  const where = { what: `the rolling ${kind}`, where: at };
  const cause = toCause(error);
  const data = { ...where, reason: error.message, cause, done, left };
  return new XoError("STOPPED_MIDWAY", data, error);
}

function toCause(error: Error): object {
  if (error instanceof XapiError)
    return { code: error.code, params: error.params };
  return error instanceof XoError ? { code: error.code, data: error.data } : {};
}
