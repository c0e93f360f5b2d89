import { Type, type Static } from "typebox";
import { findTrackedSnapshots } from "../../backups/run/tracked-snapshots.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import { defineOperation } from "../definition/define-operation.js";
import { migrateVm, type MigrationRequest } from "../../vms/migrate-vm.js";
import { PoolScope } from "../../vms/pool-scope.js";

const optionalId = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, description }));

const ids = (description: string) =>
  Type.Optional(
    Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
      description,
    }),
  );

const params = Type.Object({
  vm: Type.String({ minLength: 1, description: "Id of the VM." }),
  targetHost: Type.String({
    minLength: 1,
    description: "Id of a host, of this pool or of another.",
  }),
  sr: optionalId("Id of the SR to which the disks are migrated."),
  mapVdisSrs: ids("SRs of single disks: id of the SR, by the id of the disk."),
  mapVifsNetworks: ids(
    "Networks of single VIFs: id of the network, by the id of the VIF.",
  ),
  migrationNetwork: optionalId("Id of the network for the migration traffic."),
  force: Type.Optional(
    Type.Boolean({
      description: "Migrates also if the CPUs of the hosts are incompatible.",
    }),
  ),
  bypassAssert: Type.Optional(
    Type.Boolean({ description: "Accepted and ignored: XAPI checks this." }),
  ),
});

const vmMigrate = defineOperation({
  name: "vm.migrate",
  summary:
    "Migrate a VM to another host: a running VM without interruption (live migration), with its disks (storage migration) if necessary. Where the pool requires it, changed block tracking of the disks is disabled, and snapshots that backups have taken of them are deleted.",
  params,
  result: Type.Boolean(),
  permission: {
    action: "operate:migrate",
    resource: "VM",
    id: ({ vm }) => vm,
  },
  changes: true,
  rest: {
    method: "post",
    path: "/vms/{vm}/actions/migrate",
    operationId: "MigrateVm",
    exposure: "confirm",
    isAction: true,
    body: {
      hostId: "targetHost",
      // Name that some clients use.
      host: "targetHost",
      srId: "sr",
      srIdByVdiId: "mapVdisSrs",
      networkIdByVifId: "mapVifsNetworks",
      migrationNetworkId: "migrationNetwork",
    },
  },
  isOneCall: () => true,
  // XAPI may refuse it for tracked disks, for example; then other calls precede it.
  callMethods: ["VM.pool_migrate", "VM.migrate_send"],
  handler: async (input, context) => {
    await migrateVm(plan(input, context.objects, context), context.objects);
    return true;
  },
});

function plan(
  input: Static<typeof params>,
  objects: PoolObjects,
  context: HandlerContext,
): MigrationRequest {
  const vm = objects.get(input.vm, "VM");
  context.check("operate:place", "host", input.targetHost);
  const host = objects.get(input.targetHost, "host");
  const scope = new PoolScope(objects, host, context);
  const sr = (id: string) => scope.use("operate:store", "SR", id).ref;
  const network = (id: string) =>
    scope.use("operate:attach", "network", id).ref;
  const { migrationNetwork } = input;
  return {
    vm,
    host,
    sr: input.sr === undefined ? undefined : sr(input.sr),
    srs: mapValues(input.mapVdisSrs, sr),
    networks: mapValues(input.mapVifsNetworks, network),
    network:
      migrationNetwork === undefined
        ? undefined
        : scope.use("operate:send", "network", migrationNetwork).ref,
    force: input.force === true,
    findSnapshots: (disks) => findTrackedSnapshots(vm.xapi, disks, context),
  };
}

function mapValues<T>(
  input: Readonly<Record<string, string>> = {},
  convert: (id: string) => T,
): Map<string, T> {
  return new Map(
    Object.entries(input).map(([key, id]) => [key, convert(id)] as const),
  );
}

export const vmMigrateOperations = [vmMigrate];
