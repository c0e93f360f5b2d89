import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { refs, text, textParam } from "../../records/fields.js";
import { vmPowerOperations } from "./vm-power.js";

/** Starts and shuts down the VMs of an appliance. */
export const vmApplianceOperations: OperationTable = {
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
