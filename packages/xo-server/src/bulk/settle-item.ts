import { XoError } from "@xo-server/model";
import { accountOf, type Landed } from "../tasks/account.js";
import type { Recalled } from "../tasks/recalled.js";
import type { Work } from "../tasks/work.js";

export interface SettleOptions {
  readonly recalled: Pick<Recalled, "land">;
  /** The work of the operation is one task of a pool. */
  readonly isOneCall: boolean;
  /** Does it, for it has not begun. */
  readonly again: () => Promise<unknown>;
  /** Writes down how it ended, as of any call. */
  readonly tell: (end: () => Promise<unknown>) => Promise<unknown>;
  /** Its part in this run. */
  readonly into: Work;
}

/**
 * Brings to its end what the server died in. It is done again only where it is
 * known that no pool was asked for it.
 * @param part its part in the last run
 * @throws what it failed with; XoError INTERRUPTED: it may have been done, or half
 */
export async function settleItem(
  part: string,
  { recalled, isOneCall, again, tell, into }: SettleOptions,
): Promise<unknown> {
  const landed = await recalled.land(part, into);
  // A flight is written down before the pool is asked.
  const isUntouched =
    isOneCall && landed.every(({ outcome }) => outcome.name === "not-begun");
  return isUntouched ? again() : tell(async () => conclude(landed, isOneCall));
}

/** @throws what it failed with; XoError INTERRUPTED */
function conclude(landed: readonly Landed[], isOneCall: boolean): true {
  const last = landed.at(-1)?.outcome;
  if (isOneCall && last?.name === "success") return true;
  if (isOneCall && last?.name === "failure") throw last.error;
  throw new XoError("INTERRUPTED", { reason: accountOf(landed) });
}
