import { Type } from "typebox";
import { RawJson } from "../encoding/raw-json.js";
import type { Action } from "../rights/actions.js";
import { eachOf } from "../hosts/guests.js";
import type { HandlerContext } from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { defaultLengths, lengthsOf } from "../rolling/estimate.js";
import { preFlight } from "../rolling/pre-flight.js";
import { toPreview } from "../rolling/preview.js";
import {
  defaultParallel,
  rollPool,
  type RollingCall,
} from "../rolling/roll-pool.js";
import type { MissingPatch } from "../updates/missing-patch.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import { actionRoute, idOf, onId } from "./on-object.js";
import { hostsOfPool } from "./pool-hosts.js";

const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

const pool = idOf("a pool");

const onPool = (action: Action) => ({
  ...onId(action, "pool"),
  id: ({ pool }: { pool: string }) => pool,
});

// The privilege for the pool includes its hosts.
const hostsOf = async (
  { services, objects }: Pick<OperationContext, "services" | "objects">,
  id: string,
) =>
  (await hostsOfPool(services.queries, id)).map((host) =>
    objects.get(host, "host"),
  );

const options = {
  shutdownPinnedVms: flag(
    "Shuts down VMs that cannot be migrated, and starts them afterwards.",
  ),
  parallel: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      description:
        "Maximum number of hosts that are down at the same time; default: a quarter of the pool, at most 16. More than one only where it is proven that all VMs keep running and a further host failure is survived.",
    }),
  ),
};

const resume = (what: string) =>
  flag(
    `Default: resumes a rolling ${what} that stopped. False: starts a new one. True: also resumes one of a server that has crashed.`,
  );

const ignored = flag("Accepted and ignored.");

const roll = async (
  context: OperationContext,
  pool: string,
  call: RollingCall,
  { signal, task: work }: HandlerContext,
) => {
  const { services, objects } = context;
  const parts = {
    objects,
    clock: services.clock,
    signal,
    work,
    records: services.rollingRecords,
    planner: services.wavePlanner,
    patches: services.missingPatches,
  };
  const hosts = () => hostsOf(context, pool);
  await rollPool(objects.get(pool, "pool"), hosts, parts, call);
  return true;
};

/** Without the parameters that are ignored. */
function toCall(
  kind: RollingCall["kind"],
  given: Omit<RollingCall, "kind">,
): RollingCall {
  const { shutdownPinnedVms, migrateBack, parallel, resume } = given;
  return { kind, shutdownPinnedVms, migrateBack, parallel, resume };
}

const shared = { result: Type.Boolean(), changes: true };

export const poolRollingReboot = defineOperation({
  ...shared,
  name: "pool.rollingReboot",
  summary:
    "Rolling reboot of a pool: evacuates and reboots its hosts, the coordinator first, then migrates the VMs back. It stops at the first failure; the next call resumes it.",
  params: Type.Object({
    pool,
    ...options,
    migrateBack: flag(
      "Whether VMs are migrated back at the end. Default: true.",
    ),
    bypassBackupCheck: ignored,
    resume: resume("reboot"),
  }),
  permission: onPool("administrate:restart"),
  rest: action("rolling_reboot", "RollingReboot"),
  handler: ({ pool, ...given }, context) =>
    roll(context, pool, toCall("reboot", given), context),
  resume: ({ pool }: { readonly pool: string }, context) =>
    roll(context, pool, { kind: "reboot", resume: true }, context),
});

export const poolRollingUpdate = defineOperation({
  ...shared,
  name: "pool.rollingUpdate",
  summary:
    "Rolling update of a pool: evacuates its hosts that lack updates, the coordinator first, installs the updates and reboots them. VMs move to hosts that are updated. It stops at the first failure; the next call resumes it.",
  params: Type.Object({
    pool,
    ...options,
    migrateBack: flag(
      "Whether VMs are migrated back at the end. Default: false.",
    ),
    rebootVm: ignored,
    bypassBackupCheck: ignored,
    resume: resume("update"),
  }),
  permission: onPool("administrate:update"),
  rest: action("rolling_update", "RollingUpdate"),
  handler: ({ pool, ...given }, context) =>
    roll(context, pool, toCall("update", given), context),
  resume: ({ pool }: { readonly pool: string }, context) =>
    roll(context, pool, { kind: "update", resume: true }, context),
});

export const poolPlanRollingUpdate = defineOperation({
  name: "pool.planRollingUpdate",
  summary:
    "What a rolling update (or reboot) of a pool would do, without doing anything: order of hosts, migrations, estimated length, riskiest step, what prevents it.",
  params: Type.Object({
    pool,
    ...options,
    kind: Type.Optional(Type.Enum(["update", "reboot"])),
  }),
  result: Type.Unsafe<RawJson>(
    Type.Object(
      {},
      {
        description:
          "canStart, problems (VMs and hosts, with code and reason), hosts in their order, waves (hosts, moves, movesAgain, survives, startsAt, emptyAt, endsAt in seconds), moves, vms, seconds, riskiest, shutDown.",
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
    const preview = await plan(context, pool, { kind, ...more });
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
  }: {
    readonly kind: "update" | "reboot";
    readonly shutdownPinnedVms?: boolean | undefined;
    readonly parallel?: number | undefined;
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
  return toPreview(hosts, checked, { objects, patches, lengths, kind });
}

const Nothing = Type.Null();

export const poolGetRollingState = defineOperation({
  name: "pool.getRollingState",
  summary:
    "The rolling reboot or update of a pool that is in progress or has stopped before its end, and the last one that has ended.",
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
  handler: ({ pool }, { services }) => {
    const record = services.rollingRecords.current(pool);
    if (record === undefined)
      return {
        current: null,
        last: services.rollingRecords.last(pool) ?? null,
      };
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
      ...(record.stopped === undefined ? {} : { stopped: record.stopped }),
    };
    return { current, last: services.rollingRecords.last(pool) ?? null };
  },
});

function action(verb: string, operationId: string): RestRoute {
  return actionRoute(`/pools/{pool}/actions/${verb}`, operationId);
}

/** Reboots and updates of all hosts of a pool. */
export const poolRollingOperations = [
  poolRollingReboot,
  poolRollingUpdate,
  poolPlanRollingUpdate,
  poolGetRollingState,
];
