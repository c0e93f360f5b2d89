import t from "tap";
import {
  errorMessage,
  failureMessage,
} from "../src/actions/plan/error-message.js";
import { RpcError } from "../src/api/rpc-error.js";
import { en } from "../src/locale/en/all.js";

t.test("the power state of a VM is named, not its reference", (t) => {
  const code = "VM_BAD_POWER_STATE";
  const message = `${code}(OpaqueRef:c70a3bb2, halted, running)`;
  t.equal(failureMessage({ code, message }, en), "The VM is running");
  t.equal(
    errorMessage(new RpcError(9, message, { code }), en),
    "The VM is running",
  );
  const ofServer = "VM state is running but should be halted";
  t.equal(failureMessage({ code, message: ofServer }, en), "The VM is running");
  t.match(failureMessage({ code, message: code }, en), /current state/);
  t.end();
});

t.test("a bulk operation says for each VM why it has failed", (t) => {
  const failure = (name: string, code: string) => ({
    id: `id of ${name}`,
    name,
    error: { code, message: code },
  });
  const failed = [
    failure("web-1", "NO_HOSTS_AVAILABLE"),
    failure("db-1", "SOME_NEW_CODE"),
    failure("web-2", "NO_HOSTS_AVAILABLE"),
    failure("web-3", "NO_HOSTS_AVAILABLE"),
    failure("web-4", "NO_HOSTS_AVAILABLE"),
    failure("web-5", "NO_HOSTS_AVAILABLE"),
  ];
  const data = { failed: 9, total: 20, reasons: "", result: { failed } };
  const bulk = { code: "SOME_FAILED", message: "", data };
  t.equal(
    failureMessage(bulk, en),
    "9 of 20 failed: web-1, web-2, web-3, web-4: No host can run the VM: memory, storage or a network is missing; " +
      "db-1: SOME_NEW_CODE; and 4 more",
  );
  const six = { ...data, failed: 6 };
  t.match(failureMessage({ ...bulk, data: six }, en), /; and 1 more$/);
  const result = { failed: failed.slice(0, 1) };
  const one = { ...data, failed: 1, result };
  t.match(failureMessage({ ...bulk, data: one }, en), /is missing$/);
  t.end();
});
