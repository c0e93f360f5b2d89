import { notifyMembers } from "../joined-hosts.js";
import { requireCoordinator } from "./session-messages.js";
import type { CoreTable } from "./core.js";
import { XapiFailure } from "../xapi-failure.js";

/** The coordinator, and its change. */
export const poolMessages: CoreTable = {
  "pool.is_slave": ({ core, origin }) =>
    core.pool.following() !== undefined ||
    origin.hostRef !== core.pool.coordinatorRef(),
  "pool.designate_new_master": (context, [host]) => {
    requireCoordinator(context);
    const { core, db, state } = context;
    const hostRef = host as string;
    const record = db.get("host", hostRef);
    if (hostRef === core.pool.coordinatorRef()) return;
    const metrics = db.find("host_metrics", record["metrics"] as string);
    if (metrics?.["live"] === false)
      throw new XapiFailure("CANNOT_CONTACT_HOST", [hostRef]);
    core.pool.promote(hostRef);
    notifyMembers(state, core.pool.urlOf(hostRef));
  },
  "pool.emergency_transition_to_master": ({ core, origin }) => {
    core.pool.promote(origin.hostRef);
  },
  "pool.emergency_reset_master": ({ core, db }, [address]) => {
    for (const [ref, host] of db.records("host"))
      if (host["address"] === address) return core.pool.promote(ref);
    throw new XapiFailure("HOST_UNKNOWN_TO_MASTER", [address as string]);
  },
};
