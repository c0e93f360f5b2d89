import t from "tap";
import { XoError } from "@xo-server/model";
import {
  assertNoEvacuationBlockers,
  type EvacuationBlocker,
} from "../src/hosts/evacuation-blockers.js";

const stuck = (name: string, power_state: string, ...reason: string[]) =>
  ({
    vm: { id: name, object: { name_label: name, power_state } },
    host: { id: "h" },
    reason,
  }) as unknown as EvacuationBlocker;

t.test("VMs that cannot be evacuated are named with remedies", async (t) => {
  const gpu = Array.from({ length: 22 }, (_, i) =>
    stuck(`gpu-${i}`, "Running", "VM_HAS_VGPU", "ref"),
  );
  const vms = [
    stuck("batch", "Paused", "VM_BAD_POWER_STATE", "ref", "running", "paused"),
    stuck("local", "Running", "NO_HOST_FOR_VM", "sr", "memory", "sr"),
    stuck("other", "Running", "SOME_NEW_CODE", "x"),
    ...gpu,
  ];
  t.throws(() => {
    assertNoEvacuationBlockers(vms);
  }, XoError);
  try {
    assertNoEvacuationBlockers(vms);
  } catch (error) {
    const { message, data } = error as XoError;
    t.match(message, /^25 VMs cannot be evacuated: batch: it is paused, only/);
    t.match(message, "unpause it or shut it down");
    t.match(
      message,
      "local: no other host accepts it (an SR of its disks is not connected, too little free memory): shut it down",
    );
    t.match(message, "other: SOME_NEW_CODE x");
    t.match(
      message,
      "gpu-18, gpu-19 and 2 more: it has a virtual GPU: shut it down",
    );
    const listed = data["vms"] as object[];
    t.equal(listed.length, 25);
    t.match(listed[0], { code: "VM_BAD_POWER_STATE", reason: /it is paused/ });
  }
});
