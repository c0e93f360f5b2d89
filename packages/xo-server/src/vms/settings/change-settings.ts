import { datamodel, XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { PoolScope } from "../pool-scope.js";
import {
  toSettingCalls,
  type SettingsInput,
  type RefOf,
} from "./setting-calls.js";
import { readRecord } from "../xapi-records.js";

/**
 * Looks up the objects that settings name, before anything is changed.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN, INVALID_PARAMETERS
 */
export function findNamed(
  { affinityHost, suspendSr, blockedOperations = {} }: SettingsInput,
  scope: PoolScope,
): RefOf {
  // Those that XAPI can block on a VM.
  const operations = datamodel.enums["vm_operations"] ?? [];
  for (const operation of Object.keys(blockedOperations))
    if (!operations.includes(operation))
      throw new XoError("INVALID_PARAMETERS", {
        reason: `VMs have no operation ${operation}`,
      });
  const host =
    affinityHost && scope.use("operate:place", "host", affinityHost).ref;
  const sr = suspendSr && scope.use("operate:store", "SR", suspendSr).ref;
  return (type) => (type === "host" ? host! : sr!);
}

/**
 * Sets only what differs from the record, each by the XAPI call of its field.
 * @throws XapiError, XoError
 */
export async function changeSettings(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  input: SettingsInput,
  refOf: RefOf,
): Promise<void> {
  const record = await readRecord(xapi, "VM", ref);
  for (const [message, ...params] of toSettingCalls(input, record, refOf))
    await xapi.call(`VM.${message}`, [ref, ...params]);
}

/** XAPI starts VMs with their hosts only if auto power-on is also enabled in the pool. */
export async function allowAutoPowerOn(
  objects: PoolObjects,
  vm: PoolObject,
): Promise<void> {
  const pool = objects.get(String(vm.object["$pool"]), "pool");
  await putEntry(vm.xapi, pool.ref, "auto_poweron");
}

async function putEntry(xapi: Xapi, pool: Ref, key: string): Promise<void> {
  const entries = await xapi.call("pool.get_other_config", [pool]);
  if ((entries as Readonly<Record<string, string>>)[key] === "true") return;
  await xapi.call("pool.remove_from_other_config", [pool, key]);
  await xapi.call("pool.add_to_other_config", [pool, key, "true"]);
}
