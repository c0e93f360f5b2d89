import type { OperationTable } from "../../operation.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { XapiFailure, internalError } from "../../xapi-failure.js";
import { textParam } from "../../records/fields.js";
import { assertVmMay } from "./vm-checks.js";
import { hasAgent } from "../effects/refresh.js";

/** Requests to a guest's agent, [xapi_vm.ml, from memory]. */
const agentFunctions = new Set([
  "run-script",
  "request-rdp-on",
  "request-rdp-off",
]);

export const vmPluginOperations: OperationTable = {
  "VM.call_plugin": ({ db }, params) => {
    const [vm, plugin, fn] = params as readonly string[];
    assertVmMay(db, vm!, "call_plugin");
    if (plugin !== "guest-agent-operation")
      throw new XapiFailure("XENAPI_MISSING_PLUGIN", [plugin!]);
    if (!agentFunctions.has(fn!))
      throw new XapiFailure("XENAPI_PLUGIN_FAILURE", [fn!, "", ""]);
    if (!hasAgent(db, vm!)) throw new XapiFailure("VM_LACKS_FEATURE", [vm!]);
    return "";
  },
  "VM.import": ({ db }, params) => {
    db.get("SR", textParam(params, 1));
    // Simulated hosts reach nothing outside of their pool.
    throw internalError('Unix.Unix_error(Unix.ECONNREFUSED, "connect", "")');
  },
  "VM.send_sysrq": ({ db }, params) => notImplemented(db, params, "send_sysrq"),
  "VM.send_trigger": ({ db }, params) =>
    notImplemented(db, params, "send_trigger"),
  "VM.get_secureboot_readiness": ({ db }, params) => {
    db.get("VM", textParam(params, 0));
    return "not_supported";
  },
};

function notImplemented(
  db: Parameters<OperationTable[string]>[0]["db"],
  params: Parameters<OperationTable[string]>[1],
  name: string,
): never {
  assertNotBlocked(db, textParam(params, 0), name);
  throw new XapiFailure("NOT_IMPLEMENTED", [name]);
}
