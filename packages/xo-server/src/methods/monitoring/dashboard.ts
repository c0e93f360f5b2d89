import { Type } from "typebox";
import { readableTo } from "../../objects/readable.js";
import type { CallContext } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";

const part = Type.Object({});
const states = Type.Object(
  {},
  { description: "Number of objects by state, and `total`." },
);
const alarms = Type.Array(Type.String(), { description: "Ids of alarms." });
const nothing = Type.Object(
  {},
  { description: "{isEmpty: true}: there are no backups here." },
);

const fleet = Type.Object({
  nPools: Type.Integer(),
  nHosts: Type.Integer(),
  poolsStatus: states,
  hostsStatus: states,
  vmsStatus: states,
  missingPatches: Type.Object(
    {},
    { description: "Hosts that have updates to install." },
  ),
  resourcesOverview: Type.Object({
    nCpus: Type.Number(),
    memorySize: Type.Number({ description: "In bytes." }),
    srSize: Type.Number({ description: "In bytes." }),
  }),
  storageRepositories: Type.Object({
    size: Type.Object({}, { description: "In bytes." }),
  }),
  backupRepositories: nothing,
  backups: nothing,
});
const pool = Type.Object({
  hosts: part,
  vms: part,
  srs: part,
  alarms,
  cpuProvisioning: Type.Object({
    total: Type.Number({ description: "Cores." }),
    assigned: Type.Number({ description: "Virtual CPUs of running VMs." }),
    percent: Type.Number(),
  }),
});
const vm = Type.Object({ quickInfo: part, alarms, backupsInfo: part });

const shared = (
  { services }: Pick<OperationContext, "services">,
  key: string,
  { user }: CallContext,
  make: () => Promise<object>,
) => services.dashboardCache.get(user?.rights ?? noRights, key, make);

const route = (path: string, operationId: string) =>
  ({
    method: "get",
    path,
    operationId,
    exposure: "allow",
    hasLines: true,
  }) as const;

const xoGetDashboard = defineOperation({
  name: "xo.getDashboard",
  summary:
    "Return the dashboard of all pools: numbers of objects by state, and the use of resources.",
  params: Type.Object({}),
  result: Type.Unsafe<object>(fleet),
  permission: "viewer",
  rest: route("/dashboard", "GetDashboard"),
  handler: (_, context) =>
    shared(context, "", context, () =>
      context.services.dashboards.ofFleet(readableTo(context)),
    ),
});

const poolGetDashboard = defineOperation({
  name: "pool.getDashboard",
  summary:
    "Return the dashboard of a pool: numbers of objects by state, and the use of resources.",
  params: Type.Object({ id: idOf("a pool") }),
  result: Type.Unsafe<object>(pool),
  permission: onId("read", "pool"),
  rest: route("/pools/{id}/dashboard", "GetPoolDashboard"),
  handler: ({ id }, context) =>
    shared(context, id, context, () =>
      context.services.dashboards.ofPool(id, readableTo(context)),
    ),
});

const vmGetDashboard = defineOperation({
  name: "vm.getDashboard",
  summary: "Return the dashboard of a VM.",
  params: Type.Object({ id: idOf("a VM") }),
  result: Type.Unsafe<object>(vm),
  permission: onId("read", "VM"),
  rest: route("/vms/{id}/dashboard", "GetVmDashboard"),
  handler: ({ id }, context) =>
    context.services.dashboards.ofVm(id, readableTo(context)),
});

/** The rights of anonymous clients of the demo. */
const noRights = {};

/** Overviews of the fleet, of a pool and of a VM. */
export const dashboardOperations = [
  xoGetDashboard,
  poolGetDashboard,
  vmGetDashboard,
];
