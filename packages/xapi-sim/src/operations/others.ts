import { toDatetime } from "../clock.js";
import type { CallContext, OperationTable } from "../operation.js";
import { XapiFailure, internalError } from "../xapi-failure.js";
import type { XapiMap } from "../xapi-value.js";
import { refs, text, textParam } from "../records/fields.js";
import { vmPowerOperations } from "./vm-power.js";

/** Classes with one or two messages of their own. */
export const otherOperations: OperationTable = {
  "VM_appliance.start": (context, params) =>
    onMembers(
      context,
      textParam(params, 0),
      ["start", "VM.start"],
      [params[1]!, false],
    ),
  "VM_appliance.clean_shutdown": (context, params) =>
    onMembers(
      context,
      textParam(params, 0),
      ["clean_shutdown", "VM.clean_shutdown"],
      [],
    ),
  "VM_appliance.hard_shutdown": (context, params) =>
    onMembers(
      context,
      textParam(params, 0),
      ["hard_shutdown", "VM.hard_shutdown"],
      [],
    ),
  "VM_appliance.shutdown": (context, params) =>
    onMembers(context, textParam(params, 0), ["shutdown", "VM.shutdown"], []),
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
  "blob.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    for (const className of ["VM", "host", "SR", "pool", "network"])
      for (const [owner, record] of db.records(className)) {
        const blobs = Object.entries(record["blobs"] as XapiMap);
        const rest = blobs.filter(([, blob]) => blob !== ref);
        if (rest.length < blobs.length)
          db.update(className, owner, { blobs: Object.fromEntries(rest) });
      }
    db.destroy("blob", ref);
  },
  "secret.introduce": ({ db }, params) => {
    const [uuid, value] = [textParam(params, 0), textParam(params, 1)];
    if (db.byUuid("secret", uuid) !== undefined)
      throw internalError(
        `Db_exn.Uniqueness_constraint_violation("secret", "uuid", "${uuid}")`,
      );
    return db.create("secret", { uuid, value });
  },
  "PCI.get_dom0_access_status": () => "enabled",
  "PUSB.scan": () => undefined,
};

/**
 * One member after another in the appliance's order; those that are already so are passed over.
 *
 * @throws XapiFailure OPERATION_PARTIALLY_FAILED with the members that failed
 */
async function onMembers(
  context: CallContext,
  appliance: string,
  [operation, message]: readonly [operation: string, message: string],
  rest: Parameters<OperationTable[string]>[1],
): Promise<void> {
  const members = [...refs(context.db.get("VM_appliance", appliance), "VMs")];
  const order = (vm: string) => Number(context.db.get("VM", vm)["order"]);
  members.sort((a, b) => order(a) - order(b));
  const starts = message === "VM.start";
  const failed: string[] = [];
  for (const vm of members) {
    const halted = text(context.db.get("VM", vm), "power_state") === "Halted";
    if (halted !== starts) continue;
    try {
      await vmPowerOperations[message]!(context, [vm, ...rest]);
    } catch (error) {
      if (!(error instanceof XapiFailure)) throw error;
      failed.push(vm);
    }
  }
  if (failed.length > 0)
    throw new XapiFailure("OPERATION_PARTIALLY_FAILED", [
      `VM_appliance.${operation}`,
      ...failed,
    ]);
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
