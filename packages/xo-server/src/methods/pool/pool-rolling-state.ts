import { Type } from "typebox";
import { RawJson } from "../../encoding/raw-json.js";
import { eachOf } from "../../hosts/guests.js";
import { defaultLengths, lengthsOf } from "../../rolling/estimate.js";
import { preFlight } from "../../rolling/pre-flight.js";
import { toPreview } from "../../rolling/preview.js";
import { defaultParallel } from "../../rolling/roll-pool.js";
import { MaintenanceWindows } from "../../schedules/maintenance-windows.js";
import type { Windows } from "../../schedules/window-shape.js";
import type { MissingPatch } from "../../updates/missing-patch.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { hideInPreview, hideInState } from "./hide-rolling.js";
import { hostsOf, onPool, options, pool } from "./rolling-parameters.js";

const poolPlanRollingUpdate = defineOperation({
  name: "pool.planRollingUpdate",
  summary:
    "Plan a rolling update or reboot of a pool without starting it. Returns the order of hosts, the migrations, the estimated duration, the step with the highest risk, and the problems that prevent a start.",
  params: Type.Object({
    pool,
    ...options,
    kind: Type.Optional(
      Type.Enum(["update", "reboot"], { description: "Default: update." }),
    ),
  }),
  result: Type.Unsafe<RawJson>(
    Type.Object(
      {},
      {
        description:
          "canStart, problems (VMs and hosts, with code and reason), hosts in their order, waves (hosts, moves, movesAgain, survives, startsAt, emptyAt, endsAt in seconds, beginsAt in ms since the epoch), moves, vms, seconds, riskiest, shutDown.",
      },
    ),
  ),
  permission: onPool("read"),
  rest: {
    method: "get",
    path: "/pools/{pool}/rolling_update_plan",
    operationId: "GetRollingUpdatePlan",
    exposure: "allow",
    example: { kind: "update", canStart: true, problems: [], waves: [] },
  },
  handler: async ({ pool, kind = "update", ...more }, context) => {
    const preview = await hideInPreview(
      await plan(context, pool, { kind, ...more }),
      context,
    );
    return new RawJson(Buffer.from(JSON.stringify(preview)));
  },
});

async function plan(
  context: OperationContext,
  pool: string,
  {
    kind,
    shutdownPinnedVms = false,
    parallel,
    windows = { ranges: [] },
  }: {
    readonly kind: "update" | "reboot";
    readonly shutdownPinnedVms?: boolean | undefined;
    readonly parallel?: number | undefined;
    readonly windows?: Windows | undefined;
  },
) {
  const { objects, services, task: work, signal } = context;
  const all = await hostsOf(context, pool);
  const patches = new Map<string, readonly MissingPatch[]>();
  if (kind === "update")
    await eachOf(all, async (host) => {
      patches.set(host.id, await services.missingPatches.of(host));
    });
  const hosts =
    kind === "update"
      ? all.filter(({ id }) => patches.get(id)!.length > 0)
      : all;
  const [first] = hosts;
  const refusals =
    kind === "update" && first !== undefined
      ? await services.missingPatches.refusals(first)
      : [];
  const { xapi, ref } = objects.get(pool, "pool");
  const tolerated = await xapi.call("pool.get_ha_host_failures_to_tolerate", [
    ref,
  ]);
  const checked = await preFlight(
    {
      pool,
      hosts: hosts.filter(({ object }) => object["power_state"] === "Running"),
      shutdownPinnedVms,
      parallel: parallel ?? defaultParallel(all.length),
      failures: Math.max(1, Number(tolerated) || 0),
    },
    { objects, planner: services.wavePlanner, work, signal },
  );
  const last = services.rollingRecords.last(pool);
  const lengths = lengthsOf(kind, last) ?? defaultLengths(kind);
  return toPreview(hosts, checked, {
    objects,
    patches,
    refusals,
    lengths,
    kind,
    windows: new MaintenanceWindows(windows),
    now: services.clock.now(),
  });
}

const Nothing = Type.Null();

const poolGetRollingState = defineOperation({
  name: "pool.getRollingState",
  summary:
    "Return the rolling reboot or update of a pool that is in progress or has stopped, and the last that has ended.",
  params: Type.Object({ pool }),
  result: Type.Object({
    current: Type.Union([Type.Object({}), Nothing]),
    last: Type.Union([Type.Object({}), Nothing]),
  }),
  permission: onPool("read"),
  rest: {
    method: "get",
    path: "/pools/{pool}/rolling_state",
    operationId: "GetRollingState",
    exposure: "allow",
    example: { current: null, last: null },
  },
  handler: async ({ pool }, { services, user, objects }) => {
    const { rollingRecords } = services;
    const record = rollingRecords.current(pool);
    const ended = rollingRecords.last(pool);
    const reader = { user, objects, queries: services.queries };
    const last =
      ended === undefined ? null : await hideInState(ended, pool, reader);
    if (record === undefined) return { current: null, last };
    const {
      kind = "reboot",
      since,
      turns,
      completed = [],
      waves = [],
    } = record;
    const current = {
      kind,
      since,
      hosts: turns.map(({ host }) => host),
      completed,
      waves,
      isSuspendRequested: rollingRecords.isSuspended(pool),
      ...pick(record, ["stopped", "suspension", "windows", "task"]),
    };
    return { current: await hideInState(current, pool, reader), last };
  },
});

function pick<T extends object, K extends keyof T>(
  from: T,
  keys: readonly K[],
): Partial<Pick<T, K>> {
  const found = keys.filter((key) => from[key] !== undefined);
  return Object.fromEntries(found.map((key) => [key, from[key]])) as Partial<
    Pick<T, K>
  >;
}

/** Plans, state and history of rolling reboots and updates. */
export const poolRollingStateOperations = [
  poolPlanRollingUpdate,
  poolGetRollingState,
];
