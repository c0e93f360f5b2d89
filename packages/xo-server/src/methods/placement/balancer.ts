import type { Catalog, ViewObject } from "@xo-server/inventory";
import { Type, type Static } from "typebox";
import type { Balancer, BalancerStatus } from "../../balancer/balancer.js";
import { policyChangeMembers } from "../../balancer/policy.js";
import { toPublicRun } from "../../balancer/public-run.js";
import { toMaySee, type MaySee } from "../../balancer/visible-vms.js";
import { toPublicState } from "../../balancer/public-state.js";
import { balancerUser } from "../../balancer/execute-migration.js";
import { readableTo } from "../../objects/readable.js";
import type {
  CallContext,
  HandlerContext,
} from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  balancerShapes,
  historyExample,
  stateExample,
} from "./balancer-shapes.js";
import { actionRoute, idOf } from "../definition/on-object.js";
import type { Action } from "../../rights/actions.js";

interface BalancerMethodParts {
  readonly balancer: Balancer;
  readonly catalog: Pick<Catalog, "get" | "poolOf" | "follow">;
}

const pool = idOf("a pool");
const closed = { additionalProperties: false } as const;
const { Policy, Standing, Run } = balancerShapes;
type Standing = Static<typeof Standing>;

const onPool = (action: Action) => ({
  action,
  resource: "pool",
  id: ({ pool: id }: { readonly pool: string }) => id,
});

const toPolicy = (
  { services }: Pick<OperationContext, "services">,
  id: string,
) => {
  const { policy, setAt } = services.balancer.policyOf(id);
  return {
    pool: id,
    isSet: setAt > 0,
    ...policy,
  };
};

const path = "/pools/{pool}/balancer/policy";

const balancerGetPolicy = defineOperation({
  name: "balancer.getPolicy",
  summary: "Return the load balancer policy of a pool.",
  params: Type.Object({ pool }, closed),
  result: Policy,
  permission: onPool("read"),
  rest: {
    method: "get",
    path,
    operationId: "GetBalancerPolicy",
    exposure: "allow",
    example: stateExample.policy,
  },
  handler: (params, context) => toPolicy(context, params.pool),
});

const balancerSetPolicy = defineOperation({
  name: "balancer.setPolicy",
  summary:
    "Set the load balancer policy of a pool. Absent properties are not changed. With the mode `off` no further migrations are started.",
  params: Type.Object({ pool, ...policyChangeMembers }, closed),
  result: Policy,
  permission: onPool("administrate:set"),
  changes: true,
  rest: {
    method: "patch",
    path,
    operationId: "SetBalancerPolicy",
    exposure: "confirm",
    example: stateExample.policy,
  },
  async handler({ pool: id, ...change }, context) {
    await context.services.balancer.setPolicy(id, change);
    return toPolicy(context, id);
  },
});

const policyOperations = [balancerGetPolicy, balancerSetPolicy];

const maySee = (context: OperationContext) =>
  toMaySee(context.services.catalog, readableTo(context)("VM"));

const balancerGetAll = defineOperation({
  name: "balancer.getAll",
  summary: "List pools with their load balancer policy and state.",
  params: Type.Object({}, closed),
  result: Type.Array(Standing),
  permission: "viewer",
  async handler(_, context) {
    const pools = await readablePools(context.services.catalog, context);
    const standings = await context.services.balancer.statuses([
      ...pools.keys(),
    ]);
    const may = maySee(context);
    return Array.from(standings, ([id, one]) =>
      toStanding({ id, name: pools.get(id) ?? "" }, one, may),
    );
  },
});

const balancerGetState = defineOperation({
  name: "balancer.getState",
  summary:
    "Return the current state of the load balancer for a pool, with the reason.",
  params: Type.Object({ pool }, closed),
  result: Standing,
  permission: onPool("read"),
  rest: {
    method: "get",
    path: "/pools/{pool}/balancer",
    operationId: "GetBalancerState",
    exposure: "allow",
    example: stateExample,
  },
  async handler({ pool: id }, context) {
    const { balancer, catalog } = context.services;
    const standings = await balancer.statuses([id]);
    const name = nameOf(catalog, id);
    return toStanding({ id, name }, standings.get(id)!, maySee(context));
  },
});

const stateOperations = [balancerGetAll, balancerGetState];

const balancerRun = defineOperation({
  name: "balancer.run",
  summary:
    "Run the load balancer for a pool now, in any mode. Returns when the run has ended.",
  params: Type.Object(
    {
      pool,
      dryRun: Type.Optional(
        Type.Boolean({
          description: "Only plans; migrates no VM. Default: false.",
        }),
      ),
    },
    closed,
  ),
  result: Run,
  permission: onPool("administrate:set"),
  changes: true,
  rest: actionRoute("/pools/{pool}/balancer/actions/run", "RunBalancer"),
  async handler({ pool: id, dryRun = false }, context) {
    const cause = toTrigger(context);
    const { run, error } = await context.services.balancer.run(
      id,
      cause,
      dryRun,
    );
    if (error !== undefined) throw error;
    return toPublicRun(run, maySee(context)) as Static<typeof Run>;
  },
});

const balancerGetHistory = defineOperation({
  name: "balancer.getHistory",
  summary: "List the load balancer runs of a pool, newest first.",
  params: Type.Object(
    {
      pool,
      limit: Type.Integer({
        minimum: 1,
        maximum: 200,
        default: 50,
        description: "Maximum number of runs in a page.",
      }),
      cursor: Type.Optional(
        Type.String({
          maxLength: 256,
          description: "Cursor of the previous page.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({
    runs: Type.Array(Run),
    cursor: Type.Optional(Type.String()),
  }),
  permission: onPool("read"),
  rest: {
    method: "get",
    path: "/pools/{pool}/balancer/history",
    operationId: "GetBalancerHistory",
    exposure: "allow",
    example: { runs: [historyExample] },
  },
  async handler({ pool: id, ...page }, context) {
    const { runs, cursor } = await context.services.balancer.history(id, page);
    const may = maySee(context);
    return {
      runs: runs.map((run) => toPublicRun(run, may) as Static<typeof Run>),
      ...(cursor === undefined ? {} : { cursor }),
    };
  },
});

const runOperations = [balancerRun, balancerGetHistory];

function toTrigger({ user = balancerUser, task: work }: HandlerContext) {
  return { cause: "manual", user, work } as const;
}

function toStanding(
  { id, name }: { readonly id: string; readonly name: string },
  standing: BalancerStatus,
  may: MaySee,
): Standing {
  const { policy, isSet } = standing;
  return {
    pool: id,
    name,
    policy: { pool: id, isSet, ...policy },
    ...toPublicState(standing, may),
  } as Standing;
}

/** Pools that the caller may read: names by id. */
async function readablePools(
  catalog: BalancerMethodParts["catalog"],
  context: CallContext,
): Promise<Map<string, string>> {
  const table = await catalog.follow("pool");
  const may = readableTo(context)("pool");
  const pools = new Map<string, string>();
  for (let row = 0; row < table.rows; row++) {
    if (!table.isLive(row)) continue;
    if (may === undefined || table.passes(row, may))
      pools.set(table.id(row), String(table.object(row)["name_label"]));
  }
  return pools;
}

function nameOf(catalog: BalancerMethodParts["catalog"], id: string): string {
  const entry = catalog.get(id);
  if (entry === undefined) return "";
  const object = JSON.parse(entry.json.toString()) as ViewObject;
  return String(object["name_label"]);
}

/** The load balancer: automatic migration of VMs. */
export const balancerOperations = [
  ...policyOperations,
  ...stateOperations,
  ...runOperations,
];
