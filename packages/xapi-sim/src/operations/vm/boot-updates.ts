import type { CallContext } from "../../operation.js";
import { map, refs } from "../../records/fields.js";

/**
 * What installed updates change when their host has booted.
 * @returns false: by a fault, the host stays offline
 */
export function bootUpdates(context: CallContext, host: string): boolean {
  const { db, state } = context;
  const { updates } = state;
  const fault = updates.bootFaults.get(host);
  updates.bootFaults.delete(host);
  if (fault === "never") return false;
  const installed = fault === "old-version" ? [] : updates.installed(host);
  const software = installed.flatMap((one) =>
    Object.entries(one.software ?? {}),
  );
  const record = db.get("host", host);
  db.update("host", host, {
    enabled: fault !== "disabled",
    software_version: {
      ...map(record, "software_version"),
      ...Object.fromEntries(software),
    },
    pending_guidances: [],
    pending_guidances_recommended: [],
    pending_guidances_full: [],
    updates_requiring_reboot: [],
  });
  if (fault === "unplugged")
    for (const pbd of refs(record, "PBDs"))
      db.update("PBD", pbd, { currently_attached: false });
  return true;
}

/** The device model of a VM has been started again, on this host or on another one. */
export function clearVmGuidances(
  { db }: Pick<CallContext, "db">,
  vm: string,
  isRebooted: boolean,
): void {
  const pending = refs(db.get("VM", vm), "pending_guidances");
  const left = pending.filter(
    (guidance) => !isRebooted && guidance === "restart_vm",
  );
  if (left.length < pending.length)
    db.update("VM", vm, { pending_guidances: left });
}
