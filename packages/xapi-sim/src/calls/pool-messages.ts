import { requireCoordinator } from "./session-messages.js";
import type { CoreTable } from "./core.js";
import { XapiFailure } from "../xapi-failure.js";

/** Who is coordinator, and the change of it. */
export const poolMessages: CoreTable = {
  "pool.is_slave": ({ core, origin }) =>
    origin.hostRef !== core.pool.coordinatorRef(),
  "pool.designate_new_master": (context, [hostRef]) => {
    requireCoordinator(context);
    context.core.pool.promote(hostRef as string);
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
