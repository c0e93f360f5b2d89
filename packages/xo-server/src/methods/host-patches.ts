import { Type } from "typebox";
import { RawJson } from "../encoding/raw-json.js";
import type { MissingPatch, MissingPatches } from "../hosts/missing-patches.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import { readableTo } from "../objects/readable.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import { idOf, onId } from "./on-object.js";

export interface PatchMethodsOptions {
  readonly objects: PoolObjects;
  readonly patches: MissingPatches;
  /** Hosts of a pool, by the pool's id. */
  readonly hostsOf: HostsOf;
}

export type HostsOf = (
  pool: string,
  where: ReturnType<ReturnType<typeof readableTo>>,
) => Promise<readonly string[]>;

const result = Type.Unsafe<RawJson>(
  Type.Array(Type.Object({}), {
    description: "Packages: name, version, release, description ...",
  }),
);
const example = [
  { name: "xen-hypervisor", version: "4.17.5", description: "Xen" },
];

/** Updates that hosts have not installed yet. */
export function patchMethods({
  objects,
  patches,
  hostsOf,
}: PatchMethodsOptions): Operation[] {
  const of = (id: string) => patches.of(objects.get(id, "host"));
  return [
    defineOperation({
      name: "pool.listMissingPatches",
      summary: "Updates that a host has not installed yet.",
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
      handler: async ({ host }) => toJson(await of(host)),
    }),
    defineOperation({
      name: "pool.listMissingPatchesOfHosts",
      summary: "Updates that some host of a pool has not installed yet.",
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
        const hosts = await hostsOf(id, readableTo(context)("host"));
        return toJson(once(await Promise.all(hosts.map(of))));
      },
    }),
  ];
}

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
