import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { durations } from "../effects/durations.js";
import { textParam } from "../../records/fields.js";
import { haltGuests, isHaEnabled } from "../ha/ha-restart.js";
import { guestsOn, isLive } from "../capacity/host-choice.js";
import { bringHostOnline, takeHostOffline } from "./host-availability.js";

export const hostFailureOperations: OperationTable = {
  // [xapi_host.ml, from memory]
  "host.declare_dead": (context, params) => {
    const { db, pool } = context;
    const host = textParam(params, 0);
    db.get("host", host);
    if (host === pool.coordinatorRef())
      throw new XapiFailure("HOST_CANNOT_DESTROY_SELF", [host]);
    if (isLive(db, host)) throw new XapiFailure("HOST_IS_LIVE", [host]);
    haltGuests(context, guestsOn(context, host));
  },
};

/**
 * The host loses its power and stays offline until it is started again. With HA, the pool
 * finds out and starts what is protected elsewhere. Without, XAPI would show its
 * guests as running until an administrator declares it dead: the simulator does that after the same time.
 */
export function killHost(context: CallContext, host: string): void {
  const { db, pool } = context;
  takeHostOffline(context, host, { crash: true });
  if (isHaEnabled(context)) return;
  pool.later(durations.fence, () => {
    if (db.find("host", host) === undefined || isLive(db, host)) return;
    haltGuests(context, guestsOn(context, host));
  });
}

/** A host that was killed has booted again. */
export function bootFailedHost(context: CallContext, host: string): void {
  bringHostOnline(context, host, true);
}
