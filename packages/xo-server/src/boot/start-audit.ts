import type { Store } from "@xo-server/store";
import type { Cluster } from "../cluster/start-cluster.js";
import { createAudit, type Audit } from "../operations/audit.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { ServerOptions } from "./server-options.js";

/**
 * Starts the audit log. Changes that the previous run did not complete get entries
 * with the outcome `unknown`.
 */
export async function startAudit(
  parts: { readonly store: Store; readonly cluster: Pick<Cluster, "self"> },
  { loggers, clock }: Pick<ServerOptions, "loggers" | "clock">,
  stops: StopStack,
): Promise<Audit> {
  const { store, cluster } = parts;
  const { owner } = cluster.self;
  const logger = loggers.named("xo:api");
  try {
    const count = await store.auditChanges.endInterrupted(owner);
    if (count > 0)
      logger.warn(
        `${count} changes were in progress when the server ended; the audit log records them with the outcome "unknown"`,
      );
  } catch (error) {
    // Their rows remain for the next start.
    logger.warn("interrupted changes could not be written to the audit log", {
      error,
    });
  }
  const audit = createAudit(store, owner, clock);
  stops.push("audit log", () => audit.stop());
  return audit;
}
