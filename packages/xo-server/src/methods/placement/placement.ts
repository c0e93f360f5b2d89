import { XoError } from "@xo-server/model";
import type { BalancePolicy, PoolModel } from "@xo-server/placement";
import { Type, type Static } from "typebox";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import { hideVms } from "./hide-vms.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { parseChanges } from "../../placement/parse-changes.js";
import { defaultMaxFailures } from "../../placement/default-max-failures.js";
import { applyPlan } from "../../placement/apply-plan.js";
import * as inputs from "../../placement/input-schemas.js";
import * as schemas from "../../placement/schemas.js";
import { idOf } from "../definition/on-object.js";
import type { Action } from "../../rights/actions.js";

const MAX_ACTIONS = 10_000;
const MAX_CHANGES = 1_000;

const pool = idOf("a pool");
const vm = idOf("a VM");
const hosts = Type.Array(Type.String({ minLength: 1 }), {
  minItems: 1,
  maxItems: 1_000,
  description: "Ids of hosts of one pool.",
});
const goal = Type.Optional(
  Type.Enum(["performance", "consolidate", "enforce-rules"], {
    description: "Default: the goal of the pool's policy.",
  }),
);

const ofPool = (action: Action) => ({
  action,
  resource: "pool",
  id: (params: { readonly pool: string }) => params.pool,
});

const read = async (id: string, context: OperationContext) =>
  checked(await context.services.placement.model(id), id, context);

const poolOf = (
  { objects }: Pick<OperationContext, "objects">,
  id: string,
  type: string,
) => String(objects.get(id, type).object["$pool"]);

const EXAMPLE = "00000000-0000-4000-8000-000000000001";

const placementPlaceVm = defineOperation({
  name: "placement.placeVm",
  summary:
    "Evaluate all hosts for a VM. Returns, for each host, its score and the reasons that exclude it, and whether the VM is agile.",
  params: Type.Object({ vm }),
  result: schemas.PlacedVm,
  permission: { action: "read", resource: "VM", id: ({ vm }) => vm },
  rest: route("get", "/vms/{vm}/placement", "GetVmPlacement", {
    example: { vm: EXAMPLE, candidates: [] },
  }),
  handler: async ({ vm }, context) => {
    const model = await read(poolOf(context, vm, "VM"), context);
    const call = { signal: context.signal };
    const placed = await context.services.placement.planner.place(
      model,
      vm,
      {},
      call,
    );
    const agility = await context.services.placement.planner.agility(
      model,
      vm,
      call,
    );
    const home = model.vms.find(({ id }) => id === vm)?.host;
    const current = placed.candidates.find(({ host }) => host === home);
    return { ...placed, ...(current && { current }), agility } as never;
  },
});

const placementPlanEvacuation = defineOperation({
  name: "placement.planEvacuation",
  summary:
    "Plan the evacuation of hosts. Returns the migrations, without starting them.",
  params: Type.Object({ hosts }),
  result: schemas.PlanResult,
  permission: {
    action: "read",
    resource: "host",
    id: ({ hosts }) => hosts[0]!,
  },
  handler: async ({ hosts }, context) => {
    const model = await read(poolOf(context, hosts[0]!, "host"), context);
    const { signal } = context;
    const { planner } = context.services.placement;
    const plan = await planner.evacuation(model, hosts, {}, { signal });
    return hideVms(plan, model.vms, context) as never;
  },
});

const placementPlanFailover = defineOperation({
  name: "placement.planFailover",
  summary:
    "Plan a failover. Returns on which hosts VMs would be restarted if the given hosts failed at the same time.",
  params: Type.Object({ pool, hosts }),
  result: schemas.FailoverResult,
  permission: ofPool("read"),
  rest: route("post", "/pools/{pool}/placement/failover", "PlanFailover", {}),
  handler: async ({ pool, hosts }, context) => {
    const model = await read(pool, context);
    const { signal } = context;
    const { planner } = context.services.placement;
    const found = await planner.failover(model, hosts, {}, { signal });
    return hideVms(found, model.vms, context) as never;
  },
});

const placementGetSurvival = defineOperation({
  name: "placement.getSurvival",
  summary:
    "Return how many hosts of a pool can fail at the same time while all VMs can be restarted.",
  params: Type.Object({
    pool,
    maxFailures: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        description:
          "Maximum number of failures to examine. Default: 3 in pools of up to 24 hosts, else 2.",
      }),
    ),
  }),
  result: schemas.SurvivalResult,
  permission: ofPool("read"),
  rest: route("get", "/pools/{pool}/placement/survival", "GetSurvival", {
    example: { failures: 1, atMost: 1, isExact: true, steps: [] },
  }),
  handler: async ({ pool, ...params }, context) => {
    const model = await read(pool, context);
    const { maxFailures = defaultMaxFailures(model) } = params;
    const { signal } = context;
    const { planner } = context.services.placement;
    const options = { maxFailures };
    const found = await planner.survival(model, options, { signal });
    return hideVms(found, model.vms, context) as never;
  },
});

const placementWhatIf = defineOperation({
  name: "placement.whatIf",
  summary:
    "Return the capacity of a pool and the number of host failures that it tolerates, after hypothetical changes of hosts and VMs.",
  params: Type.Object({
    pool,
    changes: Type.Array(inputs.ChangeInput, {
      maxItems: MAX_CHANGES,
      description: "Hypothetical changes, applied in order.",
    }),
    hosts: Type.Optional({
      ...hosts,
      description: "Ids of hosts that are assumed to be down.",
    }),
  }),
  result: schemas.WhatIfResult,
  permission: ofPool("read"),
  rest: route("post", "/pools/{pool}/placement/what-if", "PlanWhatIf", {}),
  handler: async ({ pool, changes, hosts = [] }, context) => {
    const model = await read(pool, context);
    const down = hosts.map((host) => ({
      kind: "host-down" as const,
      host,
    }));
    const all = [...parseChanges(changes, model), ...down];
    const options = { maxFailures: defaultMaxFailures(model) };
    const { signal } = context;
    const { planner } = context.services.placement;
    const found = await planner.whatIf(model, all, options, { signal });
    return hideVms(found, model.vms, context) as never;
  },
});

const planOperations = [
  placementPlaceVm,
  placementPlanEvacuation,
  placementPlanFailover,
  placementGetSurvival,
  placementWhatIf,
];

const recommend = async (
  { pool, goal }: { readonly pool: string; readonly goal?: string },
  context: OperationContext,
) => {
  const read = await context.services.placement.model(pool);
  const model = checked(read, pool, context);
  const { excluded = [], ...own } =
    await context.services.balancer.planPolicyOf(pool);
  const call = { signal: context.signal };
  if (goal === "enforce-rules")
    return {
      model,
      policy: own,
      plan: await context.services.placement.planner.repair(model, {}, call),
    };
  const policy = { ...own, goal: goal ?? own.goal } as BalancePolicy;
  const plan = await context.services.placement.planner.balance(
    model,
    { ...policy, excluded },
    call,
  );
  return { model, policy, plan };
};

const placementRecommend = defineOperation({
  name: "placement.recommend",
  summary:
    "Recommend migrations, with reasons: relieve overloaded hosts, consolidate VMs on fewer hosts, or correct rule violations.",
  params: Type.Object({ pool, goal }),
  result: schemas.Recommendation,
  permission: ofPool("read"),
  rest: route(
    "get",
    "/pools/{pool}/placement/recommendation",
    "GetPlacementRecommendation",
    { example: { actions: [], unplaced: [], isProven: true, policy: {} } },
  ),
  handler: async (params, context) => {
    const { plan, policy, model } = await recommend(params, context);
    const shown = await hideVms(plan, model.vms, context);
    return { ...shown, policy } as never;
  },
});

const placementExplain = defineOperation({
  name: "placement.explain",
  summary:
    "Explain the recommendation for a VM: return all hosts as they are evaluated at that step of the plan.",
  params: Type.Object({ pool, goal, vm }),
  result: schemas.PlacementResult,
  permission: ofPool("read"),
  handler: async ({ vm, ...params }, context) => {
    context.check("read", "VM", vm);
    const { plan, model } = await recommend(params, context);
    const index = plan.actions.findIndex((action) => action.vm === vm);
    const { signal } = context;
    const found =
      index < 0
        ? context.services.placement.planner.place(model, vm, {}, { signal })
        : context.services.placement.planner.explain(model, plan, index, {
            signal,
          });
    return found as never;
  },
});

const placementApply = defineOperation({
  name: "placement.apply",
  summary:
    "Execute actions of a plan. Each action is checked again before it starts; the first failure ends the execution. Requires operate:start or operate:migrate on each VM and operate:place on each host.",
  params: Type.Object({
    pool,
    actions: Type.Array(inputs.ActionInput, {
      minItems: 1,
      maxItems: MAX_ACTIONS,
      description:
        "Actions of a plan, all or some. `after` contains indices of this list.",
    }),
  }),
  result: schemas.OutcomeResult,
  permission: ofPool("administrate:place"),
  changes: true,
  rest: {
    method: "post",
    path: "/pools/{pool}/actions/apply_placement",
    operationId: "ApplyPlacement",
    exposure: "deny",
    isAction: true,
  },
  handler: async ({ pool, actions }, context) => {
    await checkActions(actions, context);
    const named = actions.flatMap(({ vm, to, from = to }) => [vm, from, to]);
    await checkPools(new Set(named), pool, context.objects);
    const { task: work, signal } = context;
    const applied = await applyPlan(actions, {
      objects: context.objects,
      clock: context.services.clock,
      work,
      signal,
    });
    return applied as never;
  },
});

function route(
  method: "get" | "post",
  path: string,
  operationId: string,
  more: Partial<RestRoute>,
): RestRoute {
  // AI assistants may call GET routes without a confirmation, but no other routes.
  const exposure = method === "get" ? "allow" : "confirm";
  return { ...more, method, path, operationId, exposure };
}

/** Plans contain all hosts of a pool: the caller needs the right to read them. */
function checked(
  model: PoolModel,
  pool: string,
  rights: Pick<HandlerContext, "check">,
): PoolModel {
  rights.check("read", "pool", pool);
  for (const { id } of model.hosts) rights.check("read", "host", id);
  return model;
}

/** Objects checked per turn of the event loop: each is parsed, about 20 us. */
const CHECKS_PER_TURN = 64;

/**
 * Requires for each VM and host the right that vm.start or vm.migrate requires.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN
 */
async function checkActions(
  actions: readonly Static<typeof inputs.ActionInput>[],
  rights: Pick<HandlerContext, "check">,
): Promise<void> {
  const hosts = new Map<string, Action>();
  for (const { from, to } of actions) {
    if (from !== undefined && !hosts.has(from)) hosts.set(from, "read");
    hosts.set(to, "operate:place");
  }
  let count = 0;
  for (const { kind, vm } of actions) {
    const action = kind === "start" ? "operate:start" : "operate:migrate";
    rights.check(action, "VM", vm);
    if (++count % CHECKS_PER_TURN === 0) await new Promise(setImmediate);
  }
  for (const [host, action] of hosts) {
    rights.check(action, "host", host);
    if (++count % CHECKS_PER_TURN === 0) await new Promise(setImmediate);
  }
}

/** @throws XoError NO_SUCH_OBJECT; INVALID_PARAMETERS for an object of another pool */
async function checkPools(
  ids: ReadonlySet<string>,
  pool: string,
  objects: PoolObjects,
): Promise<void> {
  let count = 0;
  for (const id of ids) {
    checkPool(id, pool, objects);
    if (++count % CHECKS_PER_TURN === 0) await new Promise(setImmediate);
  }
}

function checkPool(id: string, pool: string, objects: PoolObjects): void {
  const { type, object } = objects.get(id, "VM", "host");
  if (object["$pool"] !== pool)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${type} ${id} is not in the pool`,
    });
}

/** Placement of VMs, with reasons. Plans contain the ids of all VMs of a pool. */
export const placementOperations = [
  ...planOperations,
  placementRecommend,
  placementExplain,
  placementApply,
];
