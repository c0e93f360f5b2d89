import type { Xapi } from "@xo-server/xen-api";
import t from "tap";
import { dropMarkedSnapshot } from "../src/vms/export-snapshot.js";

t.test(
  "the snapshot of an export is deleted that was being taken when the server was killed",
  async (t) => {
    const calls: string[] = [];
    let checks = 0;
    const snapshot = {
      uuid: "s",
      name_label: "[export 1]",
      power_state: "Halted",
      snapshots: [],
      VBDs: [],
      blocked_operations: {},
      other_config: {},
    };
    const answers: Readonly<Record<string, () => unknown>> = {
      "VM.get_current_operations": () =>
        checks++ === 0 ? { "OpaqueRef:task": "snapshot" } : {},
      "VM.get_by_name_label": () => (checks > 1 ? ["OpaqueRef:s"] : []),
      "VM.get_record": () => snapshot,
    };
    const call = async (method: string, params: readonly unknown[] = []) => {
      calls.push([method, ...params].join(" "));
      return answers[method]?.();
    };
    const xapi = { call, callAsync: call } as unknown as Xapi;
    await dropMarkedSnapshot(xapi, "OpaqueRef:vm", "[export 1]");
    t.ok(calls.includes("VM.get_by_name_label [export 1]"));
    t.ok(calls.includes("VM.destroy OpaqueRef:s"), calls.join());
  },
);
