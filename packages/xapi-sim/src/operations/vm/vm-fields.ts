import { NULL_REF } from "@xo-server/model";
import type { Database } from "../../database.js";
import type { OperationHandler, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap } from "../../xapi-value.js";
import { badPowerState, invalidValue } from "../effects/failures.js";
import { map, text, textParam, without } from "../../records/fields.js";
import { isPv, refreshVm } from "../effects/refresh.js";
import { assertVmMay } from "./vm-checks.js";

/** Fields of a VM that XAPI validates, or synchronizes with others, when they are written. */
export const vmFieldOperations: OperationTable = {
  "VM.set_order": notNegative("order"),
  "VM.set_start_delay": notNegative("start_delay"),
  "VM.set_shutdown_delay": notNegative("shutdown_delay"),
  "VM.set_HVM_shadow_multiplier": shadowMultiplier("changing_shadow_memory"),
  "VM.set_shadow_multiplier_live": shadowMultiplier(
    "changing_shadow_memory_live",
  ),
  "VM.set_NVRAM": nvram((_, [, value]) => value as XapiMap),
  "VM.add_to_NVRAM": nvram((before, [vm, key, value]) => {
    if (Object.hasOwn(before, key as string))
      throw new XapiFailure("MAP_DUPLICATE_KEY", [
        "VM",
        "NVRAM",
        vm as string,
        key as string,
      ]);
    return { ...before, [key as string]: value! };
  }),
  "VM.remove_from_NVRAM": nvram((before, [, key]) =>
    without(before, key as string),
  ),
  // The firmware writes it while the VM runs.
  "VM.set_NVRAM_EFI_variables": ({ db }, params) => {
    const vm = textParam(params, 0);
    const before = map(db.get("VM", vm), "NVRAM");
    const variables = textParam(params, 1);
    db.update("VM", vm, { NVRAM: { ...before, "EFI-variables": variables } });
  },
  "VM.set_groups": ({ db }, params) => {
    const groups = params[1] as readonly string[];
    if (groups.length > 1) throw new XapiFailure("TOO_MANY_GROUPS");
    db.update("VM", textParam(params, 0), { groups });
  },
  "VM.set_snapshot_schedule": ({ db }, params) => {
    const schedule = textParam(params, 1);
    if (schedule !== NULL_REF && db.find("VMSS", schedule) === undefined)
      throw new XapiFailure("INVALID_VALUE", [schedule]);
    db.update("VM", textParam(params, 0), { snapshot_schedule: schedule });
  },
  "VM.set_domain_type": ({ db }, params) => {
    const domain_type = textParam(params, 1);
    const HVM_boot_policy = domain_type === "hvm" ? "BIOS order" : "";
    setDomainType(db, textParam(params, 0), { domain_type, HVM_boot_policy });
  },
  "VM.set_HVM_boot_policy": ({ db }, params) => {
    const HVM_boot_policy = textParam(params, 1);
    const domain_type = domainTypeOf(HVM_boot_policy);
    setDomainType(db, textParam(params, 0), { domain_type, HVM_boot_policy });
  },
};

/** The type of domain that XAPI gives a VM which names none. */
export function domainTypeOf(HVM_boot_policy: string): "pv" | "hvm" {
  return HVM_boot_policy === "" ? "pv" : "hvm";
}

/** @throws XapiFailure VM_BAD_POWER_STATE: the VM is not halted */
function setDomainType(
  db: Database,
  vm: string,
  patch: { readonly domain_type: string; readonly HVM_boot_policy: string },
): void {
  const before = db.get("VM", vm);
  const state = text(before, "power_state");
  const changes = isPv(before) !== (patch.domain_type === "pv");
  if (changes && state !== "Halted") throw badPowerState(vm, ["Halted"], state);
  db.update("VM", vm, patch);
  refreshVm(db, vm);
}

/** UEFI variables of a halted VM. */
function nvram(
  change: (before: XapiMap, params: Parameters<OperationHandler>[1]) => XapiMap,
): OperationHandler {
  return ({ db }, params) => {
    const vm = textParam(params, 0);
    const record = assertVmMay(db, vm, "changing_NVRAM");
    db.update("VM", vm, { NVRAM: change(map(record, "NVRAM"), params) });
  };
}

function notNegative(field: string): OperationHandler {
  return ({ db }, params) => {
    const value = params[1] as number | bigint;
    if (value < 0)
      throw invalidValue(`${field} must be non-negative`, String(value));
    db.update("VM", textParam(params, 0), { [field]: value });
  };
}

function shadowMultiplier(
  operation: "changing_shadow_memory" | "changing_shadow_memory_live",
): OperationHandler {
  return ({ db }, params) => {
    const [vm, multiplier] = [textParam(params, 0), Number(params[1])];
    assertVmMay(db, vm, operation);
    if (multiplier < 1) throw invalidValue("multiplier", String(multiplier));
    db.update("VM", vm, { HVM_shadow_multiplier: multiplier });
  };
}
