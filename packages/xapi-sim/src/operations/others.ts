import { toDatetime } from "../clock.js";
import type { CallContext, OperationTable } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import { flag, refs, text, textParam } from "./fields.js";
import { vmPowerOperations } from "./vm-power.js";
import { vmCopyOperations } from "./vm-copies.js";
import { refreshVm } from "./refresh.js";

/** Classes with one or two messages of their own. */
export const otherOperations: OperationTable = {
  "VM_appliance.start": (context, params) =>
    onMembers(context, textParam(params, 0), "VM.start", [params[1]!, false]),
  "VM_appliance.clean_shutdown": (context, params) =>
    onMembers(context, textParam(params, 0), "VM.clean_shutdown", []),
  "VM_appliance.hard_shutdown": (context, params) =>
    onMembers(context, textParam(params, 0), "VM.hard_shutdown", []),
  "VM_appliance.shutdown": (context, params) =>
    onMembers(context, textParam(params, 0), "VM.shutdown", []),
  "VMSS.snapshot_now": async (context, params) => {
    const schedule = context.db.get("VMSS", textParam(params, 0));
    const time = toDatetime(context.clock.now());
    for (const vm of refs(schedule, "VMs"))
      await vmCopyOperations["VM.snapshot"]!(context, [
        vm,
        `[${text(schedule, "name_label")}] ${time}`,
        [],
      ]);
    context.db.update("VMSS", textParam(params, 0), { last_run_time: time });
    return "";
  },
  "VTPM.create": ({ db }, params) => {
    const vm = textParam(params, 0);
    const record = db.get("VM", vm);
    if (text(record, "power_state") !== "Halted")
      throw new XapiFailure("VM_BAD_POWER_STATE", [
        vm,
        "halted",
        text(record, "power_state").toLowerCase(),
      ]);
    const vtpm = db.create("VTPM", {
      VM: vm,
      is_unique: params[1] === true,
      allowed_operations: ["destroy"],
    });
    refreshVm(db, vm);
    return vtpm;
  },
  "VTPM.get_contents": () => "",
  "blob.create": ({ db, clock }, params) =>
    db.create("blob", {
      mime_type: textParam(params, 0),
      public: params[1] === true,
      size: 0,
      last_updated: toDatetime(clock.now()),
    }),
  "VM.create_new_blob": (context, params) =>
    addBlob(context, "VM", params as readonly string[]),
  "host.create_new_blob": (context, params) =>
    addBlob(context, "host", params as readonly string[]),
  "SR.create_new_blob": (context, params) =>
    addBlob(context, "SR", params as readonly string[]),
  "pool.create_new_blob": (context, params) =>
    addBlob(context, "pool", params as readonly string[]),
  "network.create_new_blob": (context, params) =>
    addBlob(context, "network", params as readonly string[]),
  "secret.introduce": ({ db }, params) =>
    db.create("secret", {
      uuid: textParam(params, 0),
      value: textParam(params, 1),
    }),
  "role.get_permissions": ({ db }, params) =>
    permissionsOf(db, textParam(params, 0)),
  "role.get_permissions_name_label": ({ db }, params) =>
    permissionsOf(db, textParam(params, 0)).map((ref) =>
      text(db.get("role", ref), "name_label"),
    ),
  "role.get_by_permission": ({ db }, params) =>
    [...db.records("role")]
      .filter(([, role]) =>
        refs(role, "subroles").includes(textParam(params, 0)),
      )
      .map(([ref]) => ref),
  "subject.get_permissions_name_label": ({ db }, params) =>
    refs(db.get("subject", textParam(params, 0)), "roles")
      .flatMap((role) => permissionsOf(db, role))
      .map((ref) => text(db.get("role", ref), "name_label")),
  "PCI.get_dom0_access_status": () => "enabled",
  "PUSB.scan": () => undefined,
};

function permissionsOf(db: CallContext["db"], role: string): readonly string[] {
  const record = db.get("role", role);
  return flag(record, "is_internal") ? [role] : refs(record, "subroles");
}

/** One member after another in the appliance's order; those that are already so are passed over. */
async function onMembers(
  context: CallContext,
  appliance: string,
  message: string,
  rest: Parameters<OperationTable[string]>[1],
): Promise<void> {
  const members = [...refs(context.db.get("VM_appliance", appliance), "VMs")];
  const order = (vm: string) => Number(context.db.get("VM", vm)["order"]);
  members.sort((a, b) => order(a) - order(b));
  const starts = message === "VM.start";
  for (const vm of members) {
    const halted = text(context.db.get("VM", vm), "power_state") === "Halted";
    if (halted === starts)
      await vmPowerOperations[message]!(context, [vm, ...rest]);
  }
}

function addBlob(
  { db, clock }: CallContext,
  className: string,
  [ref, name, mime_type]: readonly string[],
): string {
  const blobs = db.get(className, ref!)["blobs"] as Readonly<
    Record<string, string>
  >;
  if (Object.hasOwn(blobs, name!))
    throw new XapiFailure("BLOB_ALREADY_EXISTS", [name!]);
  const blob = db.create("blob", {
    name_label: name!,
    mime_type: mime_type!,
    size: 0,
    last_updated: toDatetime(clock.now()),
  });
  db.update(className, ref!, { blobs: { ...blobs, [name!]: blob } });
  return blob;
}
