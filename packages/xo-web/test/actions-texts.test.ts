import t from "tap";
import { allActions } from "../src/actions/all-actions.js";
import {
  errorMessage,
  failureMessage,
} from "../src/actions/plan/error-message.js";
import { problemOf, type Field } from "../src/actions/plan/action-form.js";
import { ConnectionLostError, RpcError } from "../src/api/rpc-error.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";

t.test("every action has a name in each language, and does something", (t) => {
  for (const one of allActions) {
    t.ok(one.label(en), one.id);
    t.ok(one.label(de), `${one.id} in German`);
    t.ok(one.operation ?? one.dialog ?? one.run, one.id);
    // Destructive actions ask for confirmation, or have a form.
    if (one.tone === "danger") t.ok(one.formOf ?? one.dialog, `${one.id} asks`);
  }
  t.end();
});

t.test("errors suggest a remedy", (t) => {
  const messageOf = (code: number, message: string, name?: string) =>
    errorMessage(new RpcError(code, message, name && { code: name }), en);
  t.match(messageOf(2, "not enough permissions"), /administrator/);
  t.match(
    messageOf(11, "missing PV drivers", "PV_DRIVERS_MISSING"),
    /Guest tools/,
  );
  t.match(messageOf(-32000, "x", "VM_IS_SNAPSHOT"), /Revert/);
  t.match(messageOf(-32000, "x", "MEMORY_CONSTRAINT_VIOLATION_ORDER"), /order/);
  t.match(messageOf(-32000, "x", "HOST_NOT_ENOUGH_FREE_MEMORY"), /memory/);
  t.equal(
    messageOf(-32000, "SR_BACKEND_FAILURE_7(x)", "SR_BACKEND_FAILURE_7"),
    "SR_BACKEND_FAILURE_7(x)",
  );
  t.equal(messageOf(-32000, "as it is", "constructor"), "as it is");
  const reason = "port is required for TCP";
  const data = { code: "INVALID_PARAMETERS", reason };
  t.equal(
    errorMessage(new RpcError(10, "invalid parameters", data), en),
    reason,
  );
  t.equal(failureMessage({ ...data, message: "invalid", data }, en), reason);
  t.match(
    errorMessage(new ConnectionLostError("gone"), en),
    /may still be running/,
  );
  t.end();
});

t.test("errors of backups are in the language of the page", (t) => {
  const message = "backup repository nightly is unreachable: no mount";
  const data = { repository: "nightly", reason: "no mount" };
  const code = "BACKUP_REPOSITORY_UNREACHABLE";
  const expected = "Das Repository nightly ist nicht erreichbar: no mount";
  t.equal(failureMessage({ code, message, data }, de), expected);
  const sent = new RpcError(-32000, message, { code, ...data });
  t.equal(errorMessage(sent, de), expected);
  t.equal(failureMessage({ code, message }, de), message, "without its data");
  t.end();
});

t.test("VMs that cannot be evacuated are named with the reason", (t) => {
  const codes = [
    ["NO_HOSTS_AVAILABLE"],
    ["VM_HAS_PCI_ATTACHED", "OpaqueRef:1"],
    ["NO_HOST_FOR_VM", "memory", "group"],
    ["SOME_NEW_CODE"],
  ] as const;
  const vms = codes.map(([code, ...params], i) => ({
    id: `${i}`,
    name: `vm-${i}`,
    code,
    params,
  }));
  const data = { code: "VMS_CANNOT_LEAVE", count: 9, vms };
  const expected =
    "Nothing was changed. These VMs cannot be migrated to another host: " +
    "vm-0 (memory, storage or a network is missing on all other hosts), " +
    "vm-1 (PCI passthrough device attached), " +
    "vm-2 (Insufficient memory, Conflict with an affinity or anti-affinity rule), " +
    "vm-3 (SOME_NEW_CODE), and 5 more.";
  t.equal(errorMessage(new RpcError(-32000, "raw", data), en), expected);
  const failed = { code: "VMS_CANNOT_LEAVE", message: "raw", data };
  t.equal(failureMessage(failed, en), expected, "of a task as well");
  t.equal(failureMessage({ ...failed, data: {} }, en), "raw");
  t.end();
});

t.test("fields report missing and out-of-range values", (t) => {
  const size = { kind: "size", id: "s", label: "", least: 10 } as const;
  t.equal(problemOf(size, 9), "tooSmall");
  t.equal(problemOf(size, null), "missing");
  t.equal(problemOf(size, 10), undefined);
  const vlan: Field = { kind: "number", id: "v", label: "", most: 4094 };
  t.equal(problemOf(vlan, 4095), "tooLarge");
  t.equal(problemOf({ ...vlan, isOptional: true }, null), undefined);
  const besidePif: Field = { ...vlan, isOptional: true, isRequiredWith: "pif" };
  t.equal(problemOf(besidePif, null, { pif: "eth0" }), "missing");
  t.equal(problemOf(besidePif, null, { pif: null }), undefined);
  const compression: Field = {
    kind: "choice",
    id: "compress",
    label: "Compression",
    options: [
      { id: "", label: "None" },
      { id: "zstd", label: "zstd" },
    ],
  };
  t.equal(problemOf(compression, ""), undefined, "none is a choice");
  t.equal(problemOf(compression, null), "missing");
  t.end();
});
