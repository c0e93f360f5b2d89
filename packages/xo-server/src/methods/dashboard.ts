import { Type } from "typebox";
import type { Dashboards } from "../dashboard/dashboards.js";
import type { Remembered } from "../dashboard/remembered.js";
import { readableTo } from "../objects/readable.js";
import {
  defineOperation,
  type CallContext,
  type Operation,
} from "../operations/operation.js";
import { idOf, onId } from "./on-object.js";

const part = Type.Object({});
const states = Type.Object(
  {},
  { description: "Numbers by state, and `total`." },
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
    memorySize: Type.Number({ description: "Bytes." }),
    srSize: Type.Number({ description: "Bytes." }),
  }),
  storageRepositories: Type.Object({
    size: Type.Object({}, { description: "Bytes." }),
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
    assigned: Type.Number({ description: "To VMs that run." }),
    percent: Type.Number(),
  }),
});
const vm = Type.Object({ quickInfo: part, alarms, backupsInfo: part });

/** What is going on at a glance. */
export function dashboardMethods(
  dashboards: Dashboards,
  remembered: Remembered,
): Operation[] {
  const shared = (
    key: string,
    { user: person }: CallContext,
    make: () => Promise<object>,
  ) => remembered.get(person?.rights ?? nobody, key, make);
  const route = (path: string, operationId: string) =>
    ({ method: "get", path, operationId, exposure: "allow" }) as const;
  return [
    defineOperation({
      name: "xo.getDashboard",
      summary: "States and resources of all pools at a glance.",
      params: Type.Object({}),
      result: Type.Unsafe<object>(fleet),
      permission: "viewer",
      rest: route("/dashboard", "GetDashboard"),
      handler: (_, context) =>
        shared("", context, () => dashboards.ofFleet(readableTo(context))),
    }),
    defineOperation({
      name: "pool.getDashboard",
      summary: "States and resources of a pool at a glance.",
      params: Type.Object({ id: idOf("a pool") }),
      result: Type.Unsafe<object>(pool),
      permission: onId("read", "pool"),
      rest: route("/pools/{id}/dashboard", "GetPoolDashboard"),
      handler: ({ id }, context) =>
        shared(id, context, () => dashboards.ofPool(id, readableTo(context))),
    }),
    defineOperation({
      name: "vm.getDashboard",
      summary: "A VM at a glance.",
      params: Type.Object({ id: idOf("a VM") }),
      result: Type.Unsafe<object>(vm),
      permission: onId("read", "VM"),
      rest: route("/vms/{id}/dashboard", "GetVmDashboard"),
      handler: ({ id }, context) => dashboards.ofVm(id, readableTo(context)),
    }),
  ];
}

/** Stands for the rights of who looks at the demo. */
const nobody = {};
