import type { PoolLog } from "./pool-log.js";

/** A part of a rolling update, recognised by a call that the pool gets in it. */
export interface Phase {
  readonly name: string;
  readonly method: string;
  /** Only calls for this host; absent: for any object. */
  readonly host?: "coordinator" | "second";
  /** Only from then on. */
  readonly isReached?: (update: { readonly log: PoolLog }) => boolean;
  /** Options that the update needs to have this part. */
  readonly options?: object;
}

const updater = (fn: string) => `host.call_plugin/updater.py/${fn}`;

/** All parts of a rolling update, in their order. */
export const phases: readonly Phase[] = [
  {
    name: "the list of missing updates",
    method: updater("check_update"),
    host: "second",
  },
  {
    name: "the check before the start",
    method: "host.get_vms_which_prevent_evacuation",
    host: "second",
  },
  { name: "HA is disabled", method: "pool.disable_ha" },
  {
    name: "the coordinator is evacuated",
    method: "VM.pool_migrate",
  },
  {
    name: "the coordinator is updated",
    method: updater("update"),
    host: "coordinator",
  },
  {
    name: "the coordinator is rebooted",
    method: "host.reboot",
    host: "coordinator",
  },
  { name: "a host is evacuated", method: "host.evacuate", host: "second" },
  { name: "updates are installed", method: updater("update"), host: "second" },
  { name: "a host is rebooted", method: "host.reboot", host: "second" },
  { name: "a host has returned", method: "host.enable", host: "second" },
  { name: "a host is verified", method: "host.get_enabled", host: "second" },
  {
    name: "VMs are moved back",
    method: "VM.pool_migrate",
    isReached: ({ log }) => log.areAllUpdated,
    options: { migrateBack: true },
  },
  { name: "HA is enabled again", method: "pool.enable_ha" },
];
