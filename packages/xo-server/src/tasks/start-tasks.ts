import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import { Tasks } from "./tasks.js";

/** Ended tasks are forgotten after this long, in ms: two weeks. */
const KEPT_MS = 14 * 24 * 3600 * 1000;

/** @param dataDir two servers of one machine have different ones */
export async function startTasks(
  store: Store,
  dataDir: string,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Promise<Tasks> {
  const owner = createHash("sha256")
    .update(`${hostname()}\n${resolve(dataDir)}`)
    .digest("base64url");
  const { clock, logger } = parts;
  try {
    await store.tasks.interrupt(owner);
    await store.tasks.deleteEndedBefore(clock.now() - KEPT_MS);
  } catch (error) {
    logger.warn("tasks of the last run are left as they are", { error });
  }
  return new Tasks({ store: store.tasks, owner, clock, logger });
}
