import { Type } from "typebox";
import { RawJson } from "../../encoding/raw-json.js";
import { readableTo } from "../../objects/readable.js";
import {
  mostExtensiveRestart,
  type MissingPatch,
} from "../../updates/missing-patch.js";
import { versionsOfPool } from "../../updates/pool-versions.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { hostsOfPool } from "../pool/pool-hosts.js";
import { idOf, onId } from "../definition/on-object.js";

const result = Type.Unsafe<RawJson>(
  Type.Array(Type.Object({}), {
    description:
      "Updates: id, name, version, release, description, size, changelog, url, license; `after`: action required afterwards (nothing, restart-toolstack, restart-device-model, reboot-vm, reboot-host); isSecurity, advisories.",
  }),
);
const example = [
  {
    id: "xen-hypervisor-4.17.5-23.1",
    name: "xen-hypervisor",
    version: "4.17.5",
    release: "23.1",
    description: "The Xen hypervisor",
    after: "reboot-host",
    isSecurity: true,
    advisories: ["XSA-476"],
  },
];

type Context = Pick<OperationContext, "services" | "objects">;

const of = ({ services, objects }: Context, id: string) =>
  services.missingPatches.of(objects.get(id, "host"));

const poolListMissingPatches = defineOperation({
  name: "pool.listMissingPatches",
  summary: "List the missing patches (updates) of a host.",
  params: Type.Object({ host: idOf("a host") }),
  result,
  permission: { ...onId("read", "host"), id: ({ host }) => host },
  rest: {
    method: "get",
    path: "/hosts/{host}/missing_patches",
    operationId: "GetMissingPatches",
    exposure: "allow",
    example,
  },
  handler: async ({ host }, context) => toJson(await of(context, host)),
});

const poolListMissingPatchesOfHosts = defineOperation({
  name: "pool.listMissingPatchesOfHosts",
  summary: "List the missing patches (updates) of the hosts of a pool.",
  params: Type.Object({ id: idOf("a pool") }),
  result,
  permission: onId("read", "pool"),
  rest: {
    method: "get",
    path: "/pools/{id}/missing_patches",
    operationId: "GetPoolMissingPatches",
    exposure: "allow",
    example,
  },
  handler: async ({ id }, context) => {
    const hosts = await readableHosts(context, id);
    return toJson(
      once(await Promise.all(hosts.map((host) => of(context, host)))),
    );
  },
});

const poolGetPatchesDifference = defineOperation({
  name: "pool.getPatchesDifference",
  summary:
    "List the updates that one host has installed and another host has not.",
  params: Type.Object({
    source: idOf("the host that has the updates"),
    target: idOf("the host that lacks them"),
  }),
  result: Type.Array(Type.String()),
  permission: { ...onId("read", "host"), id: ({ source }) => source },
  handler: async ({ source, target }, context) => {
    context.check("read", "host", target);
    const [has, lacks] = await Promise.all([
      of(context, source),
      of(context, target),
    ]);
    const missing = new Set(has.map(({ id }) => id));
    return lacks.filter(({ id }) => !missing.has(id)).map(({ name }) => name);
  },
});

const HostState = Type.Object({
  host: Type.String(),
  version: Type.String({
    description:
      "Identifier of the installed software: hosts with equal values have the same.",
  }),
  missing: Type.Optional(Type.Integer()),
  security: Type.Optional(Type.Integer()),
  after: Type.Optional(Type.String()),
  checkedAt: Type.Optional(
    Type.Integer({ description: "Time, in ms since the epoch." }),
  ),
});

const poolGetPatchState = defineOperation({
  name: "pool.getPatchState",
  summary:
    "Return the number of missing updates and the version of each host of a pool, from the last check. Does not query the hosts.",
  params: Type.Object({ id: idOf("a pool") }),
  result: Type.Object({
    hosts: Type.Array(HostState),
    differ: Type.Boolean({
      description: "Whether the hosts run different versions.",
    }),
  }),
  permission: onId("read", "pool"),
  rest: {
    method: "get",
    path: "/pools/{id}/patch_state",
    operationId: "GetPoolPatchState",
    exposure: "allow",
    example: {
      hosts: [
        {
          host: "0a1b6a92-2f1c-4a5a-8c48-3f1d8a6d1a11",
          version: "8.3.0, xapi 25.6.0, xen 4.17.5-20",
          missing: 7,
          security: 4,
          after: "reboot-host",
          checkedAt: 1793491200000,
        },
      ],
      differ: false,
    },
  },
  handler: async ({ id }, context) => {
    const { services, objects } = context;
    const connection = objects.connectionOf(id);
    const versions =
      connection === undefined
        ? new Map<string, string>()
        : versionsOfPool(services.inventory, connection);
    const hosts = await readableHosts(context, id);
    return {
      hosts: hosts.map((host) => {
        const state = services.missingPatches.latest(host);
        const version = versions.get(host) ?? "";
        return { host, version, ...(state && summaryOf(state)) };
      }),
      differ: new Set(versions.values()).size > 1,
    };
  },
});

function summaryOf({
  patches,
  checkedAt,
}: {
  readonly patches: readonly MissingPatch[];
  readonly checkedAt: number;
}) {
  return {
    missing: patches.length,
    security: patches.filter(({ isSecurity }) => isSecurity).length,
    after: mostExtensiveRestart(patches),
    checkedAt: Math.round(checkedAt),
  };
}

function readableHosts(context: OperationContext, id: string) {
  const { queries } = context.services;
  return hostsOfPool(queries, id, readableTo(context)("host"));
}

/** Lists each update once, even if several hosts miss it. */
function once(lists: readonly (readonly MissingPatch[])[]): MissingPatch[] {
  return [...new Map(lists.flat().map((one) => [one.id, one])).values()];
}

function toJson(list: readonly MissingPatch[]): RawJson {
  return new RawJson(Buffer.from(JSON.stringify(list)));
}

/** Updates that hosts have not installed yet. */
export const patchListOperations = [
  poolListMissingPatches,
  poolListMissingPatchesOfHosts,
  poolGetPatchesDifference,
  poolGetPatchState,
];
