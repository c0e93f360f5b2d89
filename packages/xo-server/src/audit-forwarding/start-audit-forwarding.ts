import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Config } from "../config/config.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Loggers } from "../log/logger.js";
import type { ForwardStatus } from "./forward-status.js";
import { Forwarder } from "./forwarder.js";
import { createTarget } from "./targets/create-target.js";

interface AuditForwardingOptions {
  readonly config: Pick<Config, "audit">;
  readonly store: Store;
  /** Name of this server. */
  readonly owner: string;
  readonly clock: WallClock;
  readonly loggers: Loggers;
}

/** Status of all targets of the audit log. */
export type ReadForwarding = () => ForwardStatus[];

/** Forwards the audit log to the targets of the configuration. */
export function startAuditForwarding(
  { config, store, owner, clock, loggers }: AuditForwardingOptions,
  stops: StopStack,
): ReadForwarding {
  const forwarders = config.audit.forward.map(
    (target) =>
      new Forwarder({
        name: target.name,
        target: createTarget(target),
        existingEntries: target.existingEntries,
        store,
        owner,
        clock,
        logger: loggers.named("xo:audit"),
      }),
  );
  for (const forwarder of forwarders) forwarder.start();
  stops.push("forwarding of the audit log", async () => {
    await Promise.all(forwarders.map((forwarder) => forwarder.stop()));
  });
  return () => forwarders.map(({ status }) => status);
}
