import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import { receiveDisk, removeDisk } from "../../transfers/new-disk.js";
import { createDisk } from "../storage/disk.js";
import { about, failInterrupted, nameOf } from "../storage/disk-transfer.js";
import { sendTo } from "../storage/receive-file.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";
import { hostsOfPool } from "../pool/pool-hosts.js";

const ids = Type.Array(Type.String({ minLength: 1 }), { maxItems: 1_000 });

const poolInstallPatches = defineOperation({
  name: "pool.installPatches",
  summary:
    "Install updates on hosts, one after another, the coordinator first. Does not reboot hosts or restart toolstacks, which updates may require: see pool.rollingUpdate.",
  params: Type.Object({
    pool: Type.Optional(idOf("a pool: all of its hosts")),
    hosts: Type.Optional({
      ...ids,
      minItems: 1,
      description: "Ids of hosts of one pool, instead of all.",
    }),
    patches: Type.Optional({
      ...ids,
      description:
        "Ids or names of the updates. Default: all. Hosts with XenServer 8 always install all.",
    }),
    xsHash: Type.Optional(
      Type.String({
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
  }),
  result: Type.Boolean(),
  changes: true,
  permission: {
    ...onId("administrate:update", "*"),
    id: ({ pool, hosts }) => hosts?.[0] ?? pool ?? "",
  },
  handler: async ({ pool, hosts, patches }, context) => {
    for (const host of hosts ?? [])
      context.check("administrate:update", "host", host);
    const all = hosts ?? (await hostsOfPool(context.services.queries, pool!));
    await installOn(all, patches, context);
    return true;
  },
});

async function installOn(
  ids: readonly string[],
  patches: readonly string[] | undefined,
  context: OperationContext,
): Promise<void> {
  const { objects, services, task, signal } = context;
  const { missingPatches, clock } = services;
  const hosts = coordinatorFirst(ids, context);
  for (const [done, host] of hosts.entries()) {
    if (signal.aborted) throw new XoError("ABORTED", { what: "it" });
    await task.part(`install updates on ${nameOf(host)}`, (part) => {
      const parts = { objects: objects.forTask(part), clock, signal };
      const own = parts.objects.get(host.id, "host");
      return missingPatches.install(own, { patches }, parts);
    });
    task.progress((done + 1) / hosts.length);
  }
}

/**
 * The hosts without duplicates, the coordinator first.
 * @throws XoError INVALID_PARAMETERS: the hosts are of several pools, or there are
 * none
 */
function coordinatorFirst(
  ids: readonly string[],
  { objects }: OperationContext,
): PoolObject[] {
  const hosts: PoolObject[] = [];
  let pool: string | undefined;
  for (const id of new Set(ids)) {
    const host = objects.get(id, "host");
    pool ??= String(host.object["$pool"]);
    // Throws at the first such host: a list may contain a thousand hosts, and
    // reading each takes time.
    if (host.object["$pool"] !== pool) throw hostsOfOnePool();
    hosts.push(host);
  }
  if (pool === undefined) throw hostsOfOnePool();
  const { master } = objects.get(pool, "pool").object;
  const rank = ({ id }: PoolObject) => (id === master ? 0 : 1);
  return hosts.sort((a, b) => rank(a) - rank(b));
}

function hostsOfOnePool(): XoError {
  return new XoError("INVALID_PARAMETERS", {
    reason: "hosts: hosts of one pool are allowed",
  });
}

const pack =
  "Upload a supplemental pack or an update (raw data or an ISO image) and install it";

const hostInstallSupplementalPack = defineOperation({
  name: "host.installSupplementalPack",
  summary: `${pack} on a host. Returns the path of the upload.`,
  params: Type.Object({ host: idOf("a host") }),
  result: sendTo,
  permission: {
    ...onId("administrate:update", "host"),
    id: ({ host }) => host,
  },
  resume: failInterrupted,
  handler: ({ host }, context) => {
    const one = context.objects.get(host, "host");
    const operation = "host.installSupplementalPack";
    return offerPack(context, { operation, object: one }, async (update) => {
      await one.xapi.callAsync("pool_update.precheck", [update, one.ref]);
      await one.xapi.callAsync("pool_update.apply", [update, one.ref]);
    });
  },
});

const poolInstallSupplementalPack = defineOperation({
  name: "pool.installSupplementalPack",
  summary: `${pack} on all hosts of a pool. Returns the path of the upload.`,
  params: Type.Object({ pool: idOf("a pool") }),
  result: sendTo,
  permission: {
    ...onId("administrate:update", "pool"),
    id: ({ pool }) => pool,
  },
  resume: failInterrupted,
  handler: ({ pool }, context) => {
    const one = context.objects.get(pool, "pool");
    const operation = "pool.installSupplementalPack";
    return offerPack(context, { operation, object: one }, async (update) => {
      await one.xapi.callAsync("pool_update.pool_apply", [update]);
    });
  },
});

/**
 * Offers an upload of the pack. The temporary disk is deleted when the pack was
 * installed, or could not be.
 */
function offerPack(
  context: OperationContext,
  { operation, object }: { operation: string; object: PoolObject },
  install: (update: unknown) => Promise<void>,
): Promise<{ $sendTo: string }> {
  const { xapi, id, type } = object;
  const name = `Supplemental pack for ${nameOf(object)}`;
  const subject = {
    ...about(operation, name, object),
    params: { [type]: id },
    context,
  };
  const storage = storageFor(object, context);
  const create = (virtual_size: number) =>
    createDisk(storage, { name_label: name, virtual_size });
  const disk = { name, format: "raw" as const, create };
  const { transfers } = context.services;
  return transfers.offerUpload(subject, async (delivery, work) => {
    const vdi = await receiveDisk(storage, delivery, disk, work);
    try {
      const update = await xapi.callAsync("pool_update.introduce", [vdi]);
      await install(update);
      return true;
    } finally {
      await removeDisk(xapi, vdi);
    }
  });
}

/** @throws XoError INCORRECT_STATE: the pool has no default SR */
function storageFor(
  { object, id, type }: PoolObject,
  { objects }: OperationContext,
): PoolObject {
  const pool = type === "pool" ? id : String(object["$pool"]);
  const sr = objects.get(pool, "pool").object["default_SR"];
  if (typeof sr === "string") return objects.get(sr, "SR");
  throw new XoError("INCORRECT_STATE", {
    object: pool,
    property: "default_SR",
    actual: "none",
    expected: "an SR for the upload",
  });
}

/** Installation of updates, without the reboots and restarts that they need afterwards. */
export const patchInstallOperations = [
  poolInstallPatches,
  hostInstallSupplementalPack,
  poolInstallSupplementalPack,
];
