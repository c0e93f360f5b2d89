import { Type } from "typebox";
import type { Action } from "../../rights/actions.js";
import { WindowsShape } from "../../schedules/window-shape.js";
import type { OperationContext } from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";
import { hostsOfPool } from "./pool-hosts.js";

/** Schema of an optional boolean. */
export const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

export const pool = idOf("a pool");

/** Requires a privilege for the pool of the parameter `pool`. */
export const onPool = (action: Action) => ({
  ...onId(action, "pool"),
  id: ({ pool }: { pool: string }) => pool,
});

/** The privilege for the pool includes its hosts. */
export const hostsOf = async (
  { services, objects }: Pick<OperationContext, "services" | "objects">,
  id: string,
) =>
  (await hostsOfPool(services.queries, id)).map((host) =>
    objects.get(host, "host"),
  );

export const options = {
  shutdownPinnedVms: flag(
    "Shuts down VMs that cannot be migrated, and starts them afterwards.",
  ),
  parallel: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      description:
        "Maximum number of hosts that are down at the same time. Default: a quarter of the pool, at most 16. Several hosts are taken down together only if, according to the plan, all VMs keep running and another host failure is tolerated.",
    }),
  ),
  windows: Type.Optional(WindowsShape),
};
