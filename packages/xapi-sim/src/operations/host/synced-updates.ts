import { toDatetime } from "../../clock.js";
import type { CallContext, OperationTable } from "../../operation.js";
import { flag, map, refs, text, textParam } from "../../records/fields.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { UpdateGuidance } from "../../updates/update-package.js";
import { whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import { guestsOn, isLive } from "../capacity/host-choice.js";
import { obstaclesOn } from "../vm/vm-migrate.js";

/** Updates of XenServer 8, from the repository that the pool has synchronised [repository.ml, xapi_host.ml, from memory]. */
export const syncedUpdateOperations: OperationTable = {
  "pool.sync_updates": (context, params) =>
    syncUpdates(context, textParam(params, 0)),
  "pool.check_update_readiness": (context, params) =>
    readiness(context, params[1] === true),
  "host.apply_updates": (context, params) =>
    applyUpdates(context, textParam(params, 0), textParam(params, 1)),
  "VM.restart_device_models": async (context, params) => {
    const vm = textParam(params, 0);
    const record = context.db.get("VM", vm);
    await context.delay(durations.plug);
    const pending = refs(record, "pending_guidances").filter(
      (one) => one !== "restart_device_model",
    );
    context.db.update("VM", vm, { pending_guidances: pending });
  },
};

/** Which update system the hosts of a pool have. */
function isXenServer8({ db, pool }: CallContext): boolean {
  const { software_version } = db.get("host", pool.coordinatorRef());
  const { product_brand, product_version } = software_version as Readonly<
    Record<string, string>
  >;
  return product_brand === "XenServer" && !product_version!.startsWith("7.");
}

async function syncUpdates(
  context: CallContext,
  pool: string,
): Promise<string> {
  const { db, state, clock } = context;
  const { updates } = state;
  const repositories = refs(db.get("pool", pool), "repositories");
  if (repositories.length === 0) throw new XapiFailure("NO_REPOSITORY_ENABLED");
  // At the addresses of XCP-ng's repositories nothing answers.
  if (!isXenServer8(context))
    throw new XapiFailure("REPOSYNC_FAILED", [repositories[0]!]);
  if (updates.isSyncing) throw new XapiFailure("SYNC_UPDATES_IN_PROGRESS");
  updates.isSyncing = true;
  try {
    await context.delay(durations.updateSync);
  } finally {
    updates.isSyncing = false;
  }
  const { hash } = updates;
  updates.syncedHash = hash;
  db.update("pool", pool, { last_update_sync: toDatetime(clock.now()) });
  for (const repository of repositories)
    db.update("Repository", repository, { hash });
  for (const [host] of db.records("host")) showApplied(context, host);
  return hash;
}

function showApplied({ db, state }: CallContext, host: string): void {
  const isMissing = state.updates.missing(host).length > 0;
  db.update("host", host, {
    latest_synced_updates_applied: isMissing ? "no" : "yes",
  });
}

function readiness(
  { db, pool, state }: CallContext,
  requiresReboot: boolean,
): readonly (readonly string[])[] {
  const problems = [...state.updates.refusals];
  if (flag(db.get("pool", pool.poolRef), "ha_enabled"))
    problems.push(["HA_IS_ENABLED"]);
  for (const [host] of db.records("host"))
    if (!isLive(db, host)) problems.push(["HOST_OFFLINE", host]);
    else if (requiresReboot)
      for (const [, reason] of obstaclesOn({ db, state }, host))
        problems.push(reason);
  return problems;
}

async function applyUpdates(
  context: CallContext,
  host: string,
  hash: string,
): Promise<readonly (readonly string[])[]> {
  const { db, pool, state, clock } = context;
  const { updates } = state;
  const record = db.get("host", host);
  if (flag(db.get("pool", pool.poolRef), "ha_enabled"))
    throw new XapiFailure("HA_IS_ENABLED");
  if (hash === "" || hash !== updates.syncedHash)
    throw new XapiFailure("UPDATEINFO_HASH_MISMATCH");
  const busy = Object.values(map(record, "current_operations"));
  if (busy.includes("apply_updates"))
    throw new XapiFailure("APPLY_UPDATES_IN_PROGRESS");
  const target = { className: "host", ref: host } as const;
  await whileBusy(context, target, "apply_updates", () =>
    context.delay(durations.updateInstallation),
  );
  const missing = updates.missing(host);
  const needs = new Set(missing.flatMap(({ guidance }) => guidance ?? []));
  updates.install(host, missing);
  db.update("host", host, {
    last_software_update: toDatetime(clock.now()),
    last_update_hash: hash,
    pending_guidances: hostGuidances(needs),
  });
  showApplied(context, host);
  const ofVms = ["restart_device_model", "restart_vm"] as const;
  const pending = ofVms.filter((one) => needs.has(one));
  for (const vm of guestsOn(context, host))
    if (text(db.get("VM", vm), "power_state") === "Running")
      db.update("VM", vm, { pending_guidances: pending });
  return [];
}

/** A reboot includes a restart of the toolstack. */
function hostGuidances(needs: ReadonlySet<UpdateGuidance>): readonly string[] {
  if (needs.has("reboot_host")) return ["reboot_host"];
  return needs.has("restart_toolstack") ? ["restart_toolstack"] : [];
}
