import { Type } from "typebox";
import { RawJson } from "../encoding/raw-json.js";
import type { MissingPatch } from "../hosts/missing-patches.js";
import { readableTo } from "../objects/readable.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import { hostsOfPool } from "./pool-hosts.js";
import { idOf, onId } from "./on-object.js";

const result = Type.Unsafe<RawJson>(
  Type.Array(Type.Object({}), {
    description: "Packages: name, version, release, description ...",
  }),
);
const example = [
  { name: "xen-hypervisor", version: "4.17.5", description: "Xen" },
];

const of = (
  { services, objects }: Pick<OperationContext, "services" | "objects">,
  id: string,
) => services.missingPatches.of(objects.get(id, "host"));

export const poolListMissingPatches = defineOperation({
  name: "pool.listMissingPatches",
  summary: "Lists the missing patches (updates) of a host.",
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

export const poolListMissingPatchesOfHosts = defineOperation({
  name: "pool.listMissingPatchesOfHosts",
  summary: "Lists the missing patches (updates) of the hosts of a pool.",
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
    const hosts = await hostsOfPool(
      context.services.queries,
      id,
      readableTo(context)("host"),
    );
    return toJson(
      once(await Promise.all(hosts.map((host) => of(context, host)))),
    );
  },
});

/** Each package once, of however many hosts. */
function once(lists: readonly (readonly MissingPatch[])[]): MissingPatch[] {
  const all = new Map<string, MissingPatch>();
  for (const one of lists.flat()) {
    const { name, version, release } = one;
    all.set(JSON.stringify([name, version, release]), one);
  }
  return [...all.values()];
}

function toJson(list: readonly MissingPatch[]): RawJson {
  return new RawJson(Buffer.from(JSON.stringify(list)));
}

/** Updates that hosts have not installed yet. */
export const hostPatchesOperations = [
  poolListMissingPatches,
  poolListMissingPatchesOfHosts,
];
