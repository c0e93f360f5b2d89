import type { BalancerStatus } from "./balancer.js";
import { isNotice, reasonOf, type PublicReason } from "./public-reason.js";
import type { StateName } from "./state.js";
import type { MaySee } from "./visible-vms.js";

interface PublicState {
  readonly state: StateName;
  /** ms since the epoch. */
  readonly since: number;
  readonly reason?: PublicReason;
  /** Time of the next evaluation, ms since the epoch. */
  readonly next?: number;
  /** Another server with the same database balances the pool. */
  readonly elsewhere: boolean;
  /** Set when an administrator must act: the reason. */
  readonly notice?: string;
}

/** @param maySee names of other VMs are left out of reasons */
export function toPublicState(
  { published, isOnOtherServer: isElsewhere }: BalancerStatus,
  maySee?: MaySee,
): PublicState {
  const { state, since, next } = published;
  const reason = reasonOf(state, maySee);
  return {
    state: state.state,
    since,
    elsewhere: isElsewhere,
    ...(reason === undefined ? {} : { reason }),
    ...(next === undefined ? {} : { next }),
    ...(isNotice(state) ? { notice: reason!.message } : {}),
  };
}
