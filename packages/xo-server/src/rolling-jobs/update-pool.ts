import { XoError } from "@xo-server/model";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { RollingBody } from "../jobs/rolling-body.js";
import type { PoolObject } from "../objects/pool-objects.js";
import { rollPool } from "../rolling/roll-pool.js";
import type { RollingParts } from "../rolling/rolling-parts.js";
import { stopOrphan } from "../rolling/stop-orphan.js";
import type { TaskContext } from "../tasks/task-context.js";

/** Parameters of the update of a pool, besides its task. */
export interface PoolUpdateParts extends Pick<
  RollingParts,
  "records" | "planner" | "patches" | "clock" | "objects"
> {
  /** Ids of the hosts of a pool. */
  readonly hostsOf: (pool: string) => Promise<readonly string[]>;
}

/**
 * Rolling update of one pool of a job, with the rights of the job's user.
 * @throws XoError as rollPool, and FORBIDDEN; STOPPED_MIDWAY: the user has lost the
 * right since the update began
 */
export async function updatePool(
  {
    id,
    user,
    body,
  }: {
    readonly id: string;
    /** @throws XoError FORBIDDEN: the user was deleted */
    readonly user: () => AuthenticatedUser;
    readonly body: RollingBody;
  },
  {
    isBegun,
    onBegin,
  }: {
    /** Whether the previous process of the server has begun the update. */
    readonly isBegun: boolean;
    readonly onBegin: () => Promise<void>;
  },
  work: TaskContext,
  { hostsOf, ...parts }: PoolUpdateParts,
): Promise<void> {
  const objects = parts.objects.forTask(work);
  const pool = objects.get(id, "pool");
  const own = { ...parts, objects, work, signal: work.signal, onBegin };
  try {
    checkRight(user(), pool);
  } catch (error) {
    const stop = isBegun && (await stopOrphan(id, error as Error, own));
    throw stop || error;
  }
  const { parallel, windows, shutdownPinnedVms, migrateBack } = body;
  const options = { parallel, windows, shutdownPinnedVms, migrateBack };
  const hosts = async () =>
    (await hostsOf(id)).map((host) => objects.get(host, "host"));
  await rollPool(pool, hosts, own, {
    kind: "update",
    ...options,
    ...(isBegun && { resume: true }),
  });
}

/** @throws XoError FORBIDDEN */
function checkRight(user: AuthenticatedUser, { id, object }: PoolObject): void {
  const permission = "administrate:update";
  if (user.isAdmin || user.rights.may(permission, "pool", object)) return;
  throw new XoError("FORBIDDEN", { permission, object: { id, type: "pool" } });
}
