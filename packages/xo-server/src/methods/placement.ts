import { XoError } from "@xo-server/model";
import type { BalancePolicy, PoolModel } from "@xo-server/placement";
import { Type } from "typebox";
import type { Clock } from "../clock.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import {
  defineOperation,
  type HandlerContext,
  type Operation,
} from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { toChanges } from "../placement/given-changes.js";
import { applyPlan } from "../placement/apply-plan.js";
import type { Placement } from "../placement/placement.js";
import * as schemas from "../placement/schemas.js";
import { idOf } from "./on-object.js";

export interface PlacementMethodParts {
  readonly placement: Pick<Placement, "model" | "planner">;
  readonly objects: PoolObjects;
  readonly clock: Clock;
  /** By which a pool is balanced, with the VMs that stay. */
  readonly policyOf?: (pool: string) => Promise<BalancePolicy>;
}

/** Of a pool that nobody has said anything of. */
const usualPolicy: BalancePolicy = {
  goal: "performance",
  cpuHigh: 0.85,
  cpuLow: 0.65,
  memoryHigh: 0.9,
  moveCost: 0.01,
  mostMoves: 5,
  repairs: true,
};

const MOST_ACTIONS = 10_000;
const MOST_CHANGES = 1_000;
/**
 * Failures at a time that are looked at where nobody says how many: with up to
 * some 2,000 sets of hosts, planning each takes well under a second.
 */
function usualMost({ hosts }: PoolModel): number {
  return hosts.length <= 24 ? 3 : 2;
}

const pool = idOf("a pool");
const vm = idOf("a VM");
const hosts = Type.Array(Type.String({ minLength: 1 }), {
  minItems: 1,
  maxItems: 1_000,
  description: "Ids of hosts of a pool.",
});
const goal = Type.Optional(
  Type.Enum(["performance", "density", "repairs"], {
    description: "Default: that of the pool's policy.",
  }),
);

const ofPool = (action: string) => ({
  action,
  resource: "pool",
  id: (params: { readonly pool: string }) => params.pool,
});

/** What should run where, and why. Plans tell of all VMs of a pool, by id. */
export function placementMethods(parts: PlacementMethodParts): Operation[] {
  return [...planMethods(parts), ...balanceMethods(parts), apply(parts)];
}

function planMethods({
  placement,
  objects,
}: PlacementMethodParts): Operation[] {
  const { planner } = placement;
  const read = async (id: string, context: HandlerContext) =>
    checked(await placement.model(id), id, context);
  const poolOf = (id: string, type: string) =>
    String(objects.get(id, type).object["$pool"]);
  return [
    defineOperation({
      name: "placement.placeVm",
      summary:
        "Where a VM should run: all hosts, what keeps it out of each, how good each is, and whether it could restart on any.",
      params: Type.Object({ vm }),
      result: schemas.PlacedVm,
      permission: { action: "read", resource: "VM", id: ({ vm }) => vm },
      rest: route("get", "/vms/{vm}/placement", "GetVmPlacement", {
        example: { vm: EXAMPLE, candidates: [] },
      }),
      handler: async ({ vm }, context) => {
        const model = await read(poolOf(vm, "VM"), context);
        const call = { signal: context.signal };
        const placed = await planner.place(model, vm, {}, call);
        const agility = await planner.agility(model, vm, call);
        const home = model.vms.find(({ id }) => id === vm)?.host;
        const here = placed.candidates.find(({ host }) => host === home);
        const told = { ...placed, ...(here && { here }), agility };
        return told as never;
      },
    }),
    defineOperation({
      name: "placement.planEvacuation",
      summary: "Where the VMs of hosts would go that are to be empty.",
      params: Type.Object({ hosts }),
      result: schemas.PlanResult,
      permission: {
        action: "read",
        resource: "host",
        id: ({ hosts }) => hosts[0]!,
      },
      handler: async ({ hosts }, context) => {
        const model = await read(poolOf(hosts[0]!, "host"), context);
        const { signal } = context;
        return planner.evacuation(model, hosts, {}, { signal }) as never;
      },
    }),
    defineOperation({
      name: "placement.planFailover",
      summary: "What would restart where if hosts died at the same time.",
      params: Type.Object({ pool, hosts }),
      result: schemas.FailoverResult,
      permission: ofPool("read"),
      rest: route("post", "/pools/{pool}/placement/failover", "PlanFailover", {
        isAction: false,
      }),
      handler: async ({ pool, hosts }, context) => {
        const model = await read(pool, context);
        const { signal } = context;
        return planner.failover(model, hosts, {}, { signal }) as never;
      },
    }),
    defineOperation({
      name: "placement.getSurvival",
      summary: "How many hosts of a pool may die at the same time.",
      params: Type.Object({
        pool,
        most: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 64,
            description:
              "More are not looked at. Default: 3 in pools of up to 24 hosts, else 2.",
          }),
        ),
      }),
      result: schemas.SurvivalResult,
      permission: ofPool("read"),
      rest: route("get", "/pools/{pool}/placement/survival", "GetSurvival", {
        example: { failures: 1, atMost: 1, isExact: true, steps: [] },
      }),
      handler: async ({ pool, most: asked }, context) => {
        const model = await read(pool, context);
        const most = asked ?? usualMost(model);
        const { signal } = context;
        return planner.survival(model, { most }, { signal }) as never;
      },
    }),
    defineOperation({
      name: "placement.whatIf",
      summary:
        "What a pool would be like with changes: hosts out or in, VMs more, other or gone.",
      params: Type.Object({
        pool,
        changes: Type.Array(schemas.GivenChange, { maxItems: MOST_CHANGES }),
        hosts: Type.Optional({ ...hosts, description: "That are out." }),
      }),
      result: schemas.WhatIfResult,
      permission: ofPool("read"),
      rest: route("post", "/pools/{pool}/placement/what-if", "PlanWhatIf", {}),
      handler: async ({ pool, changes, hosts = [] }, context) => {
        const model = await read(pool, context);
        const out = hosts.map((host) => ({ kind: "host-out" as const, host }));
        const all = [...toChanges(changes, model), ...out];
        const most = { most: usualMost(model) };
        const { signal } = context;
        return planner.whatIf(model, all, most, { signal }) as never;
      },
    }),
  ];
}

function balanceMethods({
  placement,
  policyOf = () => Promise.resolve(usualPolicy),
}: PlacementMethodParts): Operation[] {
  const { planner } = placement;
  const recommend = async (
    { pool, goal }: { readonly pool: string; readonly goal?: string },
    context: HandlerContext,
  ) => {
    const model = checked(await placement.model(pool), pool, context);
    const { excluded = [], ...own } = await policyOf(pool);
    const call = { signal: context.signal };
    if (goal === "repairs")
      return {
        model,
        policy: own,
        plan: await planner.repair(model, {}, call),
      };
    const policy = { ...own, goal: goal ?? own.goal } as BalancePolicy;
    const asked = { ...policy, excluded };
    return { model, policy, plan: await planner.balance(model, asked, call) };
  };
  return [
    defineOperation({
      name: "placement.recommend",
      summary:
        "Moves that would make a pool better, with reasons: relieve hosts, empty them, or keep rules again.",
      params: Type.Object({ pool, goal }),
      result: schemas.Recommendation,
      permission: ofPool("read"),
      rest: route(
        ...(["get", "/pools/{pool}/placement/recommendation"] as const),
        "GetPlacementRecommendation",
        { example: { actions: [], unplaced: [], isProven: true, policy: {} } },
      ),
      handler: async (params, context) => {
        const { plan, policy } = await recommend(params, context);
        return { ...plan, policy } as never;
      },
    }),
    defineOperation({
      name: "placement.explain",
      summary:
        "Why a recommendation moves a VM where it does, or leaves it: all hosts as they were at that step.",
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
            ? planner.place(model, vm, {}, { signal })
            : planner.explain(model, plan, index, { signal });
        return found as never;
      },
    }),
  ];
}

function apply({ objects, clock }: PlacementMethodParts): Operation {
  return defineOperation({
    name: "placement.apply",
    summary:
      "Does what a plan says, each step checked again before; the first failure ends it.",
    params: Type.Object({
      pool,
      actions: Type.Array(schemas.GivenAction, {
        minItems: 1,
        maxItems: MOST_ACTIONS,
        description: "Of a plan: all, or some; `after` are positions in it.",
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
      const named = actions.flatMap(({ vm, to, from = to }) => [vm, from, to]);
      await checkPools(new Set(named), pool, objects);
      const { task: work, signal } = context;
      const told = await applyPlan(actions, {
        objects,
        clock,
        work,
        signal,
      });
      return told as never;
    },
  });
}

const EXAMPLE = "00000000-0000-4000-8000-000000000001";

function route(
  method: "get" | "post",
  path: string,
  operationId: string,
  more: Partial<RestRoute>,
): RestRoute {
  return { ...more, method, path, operationId, exposure: "allow" };
}

/** A plan tells of all hosts: whoever asks for one may see them. */
function checked(
  model: PoolModel,
  pool: string,
  rights: Pick<HandlerContext, "check">,
): PoolModel {
  rights.check("read", "pool", pool);
  for (const { id } of model.hosts) rights.check("read", "host", id);
  return model;
}

/** Each object is parsed, in some 20 us: so many between two looks at what else is to be done. */
const IN_ONE_TURN = 64;

/** @throws XoError NO_SUCH_OBJECT; INVALID_PARAMETERS: one is of another pool */
async function checkPools(
  ids: ReadonlySet<string>,
  pool: string,
  objects: PoolObjects,
): Promise<void> {
  let count = 0;
  for (const id of ids) {
    checkPool(id, pool, objects);
    if (++count % IN_ONE_TURN === 0) await new Promise(setImmediate);
  }
}

function checkPool(id: string, pool: string, objects: PoolObjects): void {
  const { type, object } = objects.get(id, "VM", "host");
  if (object["$pool"] !== pool)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${type} ${id} is not in the pool`,
    });
}
