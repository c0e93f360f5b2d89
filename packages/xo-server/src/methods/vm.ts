import { XoError, type Ref } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";

const settings = Type.Object({
  id: Type.String({ minLength: 1, description: "Of a VM." }),
  name_label: Type.Optional(Type.String()),
  name_description: Type.Optional(Type.String()),
  notes: Type.Optional(
    Type.Union([Type.String({ maxLength: 2048 }), Type.Null()]),
  ),
  tags: Type.Optional(Type.Array(Type.String())),
  auto_poweron: Type.Optional(
    Type.Boolean({ description: "Starts with its host." }),
  ),
  high_availability: Type.Optional(Type.Enum(["", "best-effort", "restart"])),
  startDelay: Type.Optional(
    Type.Integer({ minimum: 0, description: "In seconds." }),
  ),
  affinityHost: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  xenStoreData: Type.Optional(
    Type.Union([
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
      Type.Null(),
    ]),
  ),
  blockedOperations: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
  ),
});
type Settings = Static<typeof settings>;

/** VMs themselves; their power is in vm-power. */
export function vmMethods(objects: PoolObjects): Operation[] {
  return [
    defineOperation({
      name: "vm.set",
      summary: "Changes settings of a VM. Null takes an entry away.",
      params: settings,
      result: Type.Boolean(),
      permission: {
        action: "administrate:set",
        resource: "VM",
        id: ({ id }) => id,
      },
      changes: true,
      handler: async (given) => {
        const vm = objects.get(given.id, "VM");
        const calls = toCalls(given, (host) => objects.get(host, "host").ref);
        for (const [method, ...params] of calls)
          await vm.xapi.call(`VM.${method}`, [vm.ref, ...params]);
        return true;
      },
    }),
    defineOperation({
      name: "vm.snapshot",
      summary: "Takes a snapshot of a VM; its id.",
      params: Type.Object({
        id: Type.String({ minLength: 1, description: "Of a VM." }),
        name: Type.Optional(Type.String({ minLength: 1 })),
        description: Type.Optional(Type.String()),
        saveMemory: Type.Optional(
          Type.Boolean({ description: "With what is in its memory." }),
        ),
      }),
      result: Type.String(),
      permission: {
        action: "operate:snapshot",
        resource: "VM",
        id: ({ id }) => id,
      },
      changes: true,
      rest: {
        method: "post",
        path: "/vms/{id}/actions/snapshot",
        operationId: "SnapshotVm",
        exposure: "confirm",
        isAction: true,
        creates: "vm-snapshots",
        body: { name_label: "name" },
      },
      handler: ({ id, ...options }) => snapshot(objects.get(id, "VM"), options),
    }),
  ];
}

interface SnapshotOptions {
  readonly name?: string;
  readonly description?: string;
  readonly saveMemory?: boolean;
}

async function snapshot(
  { xapi, ref, object }: PoolObject,
  { name, description, saveMemory = false }: SnapshotOptions,
): Promise<string> {
  const label =
    name ?? `${String(object["name_label"])}_${new Date().toISOString()}`;
  const made = await (saveMemory
    ? xapi.callAsync("VM.checkpoint", [ref, label])
    : xapi.callAsync("VM.snapshot", [ref, label, []]));
  if (description !== undefined)
    await xapi.call("VM.set_name_description", [made, description]);
  const uuid = await xapi.call("VM.get_uuid", [made]);
  if (typeof uuid !== "string")
    throw new XoError("INTERNAL", { reason: "the snapshot has no uuid" });
  return uuid;
}

type Call = readonly [method: string, ...params: unknown[]];

/** XAPI's calls that bring a VM to what was given. */
function toCalls(given: Settings, hostRef: (id: string) => Ref): Call[] {
  const { affinityHost, auto_poweron, notes } = given;
  const direct: [string, unknown][] = [
    ["name_label", given.name_label],
    ["name_description", given.name_description],
    ["tags", given.tags],
    ["ha_restart_priority", given.high_availability],
    ["start_delay", given.startDelay?.toString()],
    [
      "affinity",
      affinityHost === null
        ? "OpaqueRef:NULL"
        : affinityHost && hostRef(affinityHost),
    ],
  ];
  return [
    ...direct
      .filter(([, value]) => value !== undefined)
      .map(([field, value]): Call => [`set_${field}`, value]),
    ...entryCalls("other_config", {
      ...(auto_poweron === undefined
        ? {}
        : { auto_poweron: auto_poweron ? "true" : null }),
      ...(notes === undefined ? {} : { "xo:notes": notes }),
    }),
    ...entryCalls("xenstore_data", given.xenStoreData ?? {}),
    ...entryCalls("blocked_operations", given.blockedOperations ?? {}),
  ];
}

/** XAPI refuses to add an entry that is there, and takes it well when one to be removed is not. */
function entryCalls(
  field: string,
  entries: Readonly<Record<string, string | null>>,
): Call[] {
  return Object.entries(entries).flatMap(([key, value]): Call[] => [
    [`remove_from_${field}`, key],
    ...(value === null ? [] : [[`add_to_${field}`, key, value] as Call]),
  ]);
}
