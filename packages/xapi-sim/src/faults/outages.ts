import type { CallContext } from "../operation.js";
import { takeHostOffline } from "../operations/host/host-availability.js";
import type { FailureProfile } from "./failure-profile.js";

const SHORTEST_MS = 20_000;
const LONGEST_MS = 60_000;

/**
 * Makes members of a flaky pool unreachable from time to time. Member and duration follow from
 * the seed of the pool.
 */
export function startOutages(
  context: CallContext,
  failureProfile: FailureProfile,
): void {
  const { db, pool } = context;
  if (failureProfile.outageEvery === 0) return;
  const next = (): void => {
    pool.later(failureProfile.outageEvery * 1000, () => {
      const members = [...db.refs("host")].filter(
        (host) => host !== pool.coordinatorRef(),
      );
      const host = members[failureProfile.pick(Math.max(1, members.length))];
      const backAfter =
        SHORTEST_MS + failureProfile.pick(LONGEST_MS - SHORTEST_MS);
      if (host !== undefined)
        takeHostOffline(context, host, { crash: false, backAfter });
      next();
    });
  };
  next();
}
