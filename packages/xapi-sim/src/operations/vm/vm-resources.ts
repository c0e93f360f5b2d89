import type { Database } from "../../database.js";
import type {
  CallContext,
  OperationHandler,
  OperationTable,
} from "../../operation.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap, XapiRecord } from "../../xapi-value.js";
import { vmOperations } from "../../records/allowed-operations.js";
import { invalidValue } from "../effects/failures.js";
import {
  flag,
  int,
  intParam,
  map,
  mapParam,
  refIn,
  refs,
  text,
  textParam,
} from "../../records/fields.js";
import { refreshVm } from "../effects/refresh.js";
import {
  freeMemory,
  memoryNeeded,
  releaseMemory,
} from "../capacity/host-memory.js";
import { assertVmMay, isCheckedOperation } from "./vm-checks.js";
import { updateMetrics } from "./vm-domain.js";
import { domainTypeOf } from "./vm-fields.js";

export const vmResourceOperations: OperationTable = {
  "VM.set_memory_static_max": memory(
    ([value]) => ({ memory_static_max: value! }),
    "static",
  ),
  "VM.set_memory_static_min": memory(
    ([value]) => ({ memory_static_min: value! }),
    "static",
  ),
  "VM.set_memory_static_range": memory(
    ([min, max]) => ({ memory_static_min: min!, memory_static_max: max! }),
    "static",
  ),
  "VM.set_memory_dynamic_max": memory(
    ([value]) => ({ memory_dynamic_max: value! }),
    "dynamic",
  ),
  "VM.set_memory_dynamic_min": memory(
    ([value]) => ({ memory_dynamic_min: value! }),
    "dynamic",
  ),
  "VM.set_memory_dynamic_range": memory(
    ([min, max]) => ({ memory_dynamic_min: min!, memory_dynamic_max: max! }),
    "dynamic",
  ),
  "VM.set_memory_limits": memory(
    ([staticMin, staticMax, dynamicMin, dynamicMax]) => ({
      memory_static_min: staticMin!,
      memory_static_max: staticMax!,
      memory_dynamic_min: dynamicMin!,
      memory_dynamic_max: dynamicMax!,
    }),
    "static",
  ),
  "VM.set_memory": memory(
    ([value]) => ({
      memory_static_max: value!,
      memory_dynamic_max: value!,
      memory_dynamic_min: value!,
    }),
    "static",
  ),
  "VM.set_memory_target_live": ({ db }, params) =>
    assertNotBlocked(db, textParam(params, 0), "changing_memory_live"),
  "VM.wait_memory_target_live": ({ db }, params) =>
    assertNotBlocked(db, textParam(params, 0), "awaiting_memory_live"),
  "VM.get_cooperative": () => true,
  "VM.compute_memory_overhead": ({ db }, params) =>
    int(db.get("VM", textParam(params, 0)), "memory_overhead"),
  "VM.maximise_memory": (_, params) => intParam(params, 1),
  "VM.set_VCPUs_max": vcpus("VCPUs_max"),
  "VM.set_VCPUs_at_startup": vcpus("VCPUs_at_startup"),
  "VM.set_VCPUs_number_live": ({ db }, params) => {
    const [vm, value] = [textParam(params, 0), intParam(params, 1)];
    const record = assertVmMay(db, vm, "changing_VCPUs_live");
    if (value < 1 || value > int(record, "VCPUs_max"))
      throw invalidValue(
        "VCPU values must satisfy: 0 < VCPUs ≤ VCPUs_max",
        String(value),
      );
    updateMetrics({ db }, record, { VCPUs_number: value });
    db.update("VM", vm, { VCPUs_at_startup: value });
  },
  "VM.add_to_VCPUs_params_live": ({ db }, params) => {
    const [vm, key, value] = params as readonly string[];
    const record = assertVmMay(db, vm!, "changing_VCPUs_live");
    const VCPUs_params = { ...map(record, "VCPUs_params"), [key!]: value! };
    db.update("VM", vm!, { VCPUs_params });
  },
  "VM.get_allowed_VBD_devices": ({ db }, params) =>
    freeDevices(db, textParam(params, 0), {
      className: "VBD",
      field: "VBDs",
      deviceField: "userdevice",
      limit: 255,
    }),
  "VM.get_allowed_VIF_devices": ({ db }, params) =>
    freeDevices(db, textParam(params, 0), {
      className: "VIF",
      field: "VIFs",
      deviceField: "device",
      limit: 16,
    }),
  "VM.assert_operation_valid": ({ db }, params) => {
    const [vm, operation] = [textParam(params, 0), textParam(params, 1)];
    assertNotBlocked(db, vm, operation);
    if (isCheckedOperation(operation)) assertVmMay(db, vm, operation);
    else if (!allowed(db, vm).includes(operation))
      throw new XapiFailure("OPERATION_NOT_ALLOWED", [
        `Operation '${operation}' is not valid for VM '${vm}'`,
      ]);
  },
  "VM.update_allowed_operations": ({ db }, params) => {
    db.get("VM", textParam(params, 0));
    refreshVm(db, textParam(params, 0));
  },
  "VM.set_is_a_template": ({ db }, params) => {
    const [vm, value] = [textParam(params, 0), params[1] === true];
    const record = db.get("VM", vm);
    const state = text(record, "power_state");
    if (value && (record["is_a_snapshot"] || record["is_a_template"]))
      throw new XapiFailure(
        record["is_a_snapshot"] ? "VM_IS_SNAPSHOT" : "VM_IS_TEMPLATE",
        [vm, "make_into_template"],
      );
    if (value) assertNotBlocked(db, vm, "make_into_template");
    if (value && state !== "Halted")
      throw new XapiFailure("VM_BAD_POWER_STATE", [
        vm,
        "halted",
        state.toLowerCase(),
      ]);
    db.update("VM", vm, {
      is_a_template: value,
      ...(value ? {} : { is_default_template: false }),
    });
    refreshVm(db, vm);
  },
  "VM.copy_bios_strings": ({ db }, params) => {
    const [vm, host] = [textParam(params, 0), textParam(params, 1)];
    const { bios_strings } = db.get("host", host);
    setBiosStrings(db, vm, bios_strings as XapiMap);
  },
  "VM.set_bios_strings": ({ db }, params) => {
    setBiosStrings(db, textParam(params, 0), mapParam(params, 1));
  },
  "VM.get_boot_record": ({ db }, params) => {
    assertNotBlocked(db, textParam(params, 0), "get_boot_record");
    return db.get("VM", textParam(params, 0));
  },
  "VM.query_services": ({ db }, params) => {
    assertNotBlocked(db, textParam(params, 0), "query_services");
    return {};
  },
  "VM.create": (context, params) => createVm(context, params[0] as XapiRecord),
};

/** They are set once. */
function setBiosStrings(db: Database, vm: string, strings: XapiMap): void {
  if (Object.keys(map(db.get("VM", vm), "bios_strings")).length > 0)
    throw new XapiFailure("VM_BIOS_STRINGS_ALREADY_SET");
  db.update("VM", vm, { bios_strings: strings });
}

/** @throws XapiFailure INVALID_VALUE; both fields have one text */
function vcpus(field: "VCPUs_max" | "VCPUs_at_startup"): OperationHandler {
  return ({ db }, params) => {
    const [vm, value] = [textParam(params, 0), intParam(params, 1)];
    const record = assertVmMay(db, vm, "changing_VCPUs");
    const after: XapiRecord = { ...record, [field]: value };
    const start = int(after, "VCPUs_at_startup");
    if (value < 1 || start > int(after, "VCPUs_max"))
      throw invalidValue(
        "VCPU values must satisfy: 0 < VCPUs_at_startup ≤ VCPUs_max",
        String(value),
      );
    db.update("VM", vm, { [field]: value });
  };
}

type MemoryFields =
  | "memory_static_min"
  | "memory_static_max"
  | "memory_dynamic_min"
  | "memory_dynamic_max";

/** A change of memory limits: static ones only while halted; the four must stay in order. */
function memory(
  patchOf: (values: readonly number[]) => Partial<Record<MemoryFields, number>>,
  range: "static" | "dynamic",
): OperationHandler {
  return ({ db }, params) => {
    const vm = textParam(params, 0);
    const record = assertVmMay(
      db,
      vm,
      range === "static" ? "changing_static_range" : "changing_dynamic_range",
    );
    const patch: Partial<Record<MemoryFields, number>> & {
      requires_reboot?: true;
    } = patchOf(params.slice(1).map(Number));
    const after: XapiRecord = { ...record, ...patch };
    const steps = [
      "memory_static_min",
      "memory_dynamic_min",
      "memory_dynamic_max",
      "memory_static_max",
    ];
    if (
      steps.some(
        (name, i) => i > 0 && int(after, steps[i - 1]!) > int(after, name),
      )
    )
      throw new XapiFailure("MEMORY_CONSTRAINT_VIOLATION_ORDER");
    const memory_target = int(after, "memory_dynamic_max");
    const isControlDomain = flag(record, "is_control_domain");
    // Xen reads that of the control domain when the host boots.
    if (isControlDomain) patch.requires_reboot = true;
    else takeMemory(db, record, after);
    db.update("VM", vm, { ...patch, memory_target });
  };
}

/** Moves memory from the host to a running VM. */
function takeMemory(db: Database, before: XapiRecord, after: XapiRecord): void {
  const host = refIn(before, "resident_on");
  if (host === undefined) return;
  const more = memoryNeeded(after) - memoryNeeded(before);
  const available = freeMemory(db, host);
  if (more > available)
    throw new XapiFailure("HOST_NOT_ENOUGH_FREE_MEMORY", [
      String(more),
      String(available),
    ]);
  releaseMemory(db, host, -more);
}

function freeDevices(
  db: Database,
  vm: string,
  device: {
    className: string;
    field: string;
    deviceField: string;
    limit: number;
  },
): readonly string[] {
  const taken = new Set(
    refs(db.get("VM", vm), device.field).map((ref) =>
      text(db.get(device.className, ref), device.deviceField),
    ),
  );
  return Array.from({ length: device.limit }, (_, place) =>
    String(place),
  ).filter((place) => !taken.has(place));
}

function allowed(db: Database, vm: string): readonly string[] {
  return refs(db.get("VM", vm), "allowed_operations");
}

function createVm({ db, random }: CallContext, record: XapiRecord): string {
  const metrics = db.create("VM_metrics", { VCPUs_utilisation: { "0": 0 } });
  const other_config = {
    mac_seed: random.uuid(),
    ...(record["other_config"] as XapiRecord | undefined),
  };
  const { domain_type } = record;
  return db.create("VM", {
    ...record,
    other_config,
    metrics,
    domid: -1,
    ...(domain_type === undefined || domain_type === "unspecified"
      ? {
          domain_type: domainTypeOf(
            (record["HVM_boot_policy"] ?? "") as string,
          ),
        }
      : {}),
    allowed_operations: vmOperations({
      powerState: "Halted",
      isTemplate: flag(record, "is_a_template"),
      isSnapshot: false,
      isControlDomain: false,
      agent: false,
    }),
  });
}
