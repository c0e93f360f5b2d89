import { XapiError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import t from "tap";
import { dropUploads } from "../src/backups/restore/restore-disk.js";
import { dropDisk } from "../src/backups/restore/restore-disks.js";

/** @param answers by method; what the pool was asked is in `calls` */
function fakePool(
  answers: Readonly<Record<string, (...params: unknown[]) => unknown>>,
) {
  const calls: string[] = [];
  const call = async (method: string, params: readonly unknown[] = []) => {
    calls.push([method, ...params].join(" "));
    return answers[method]?.(...params);
  };
  const xapi = { call, callAsync: call } as unknown as Xapi;
  return { xapi, calls };
}

t.test(
  "a disk to which an upload was just cancelled is deleted when the control domain has released it",
  async (t) => {
    let attempts = 0;
    const isAttached = () => attempts === 0;
    const { xapi, calls } = fakePool({
      "VDI.get_VBDs": () => (isAttached() ? ["vm", "dom0"] : ["vm"]),
      "VBD.get_currently_attached": (vbd) => vbd === "dom0",
      "VBD.destroy"(vbd) {
        if (vbd === "dom0") throw new XapiError("OPERATION_NOT_ALLOWED", []);
      },
      "VDI.destroy"() {
        if (attempts++ === 0) throw new XapiError("VDI_IN_USE", ["vdi"]);
      },
    });
    await dropDisk(xapi, "vdi");
    t.notOk(calls.includes("VBD.destroy dom0"));
    t.equal(calls.filter((one) => one === "VDI.destroy vdi").length, 2);
  },
);

t.test("a disk that no longer exists counts as deleted", async () => {
  const { xapi } = fakePool({
    "VDI.get_VBDs"() {
      throw new XapiError("HANDLE_INVALID", ["VDI", "vdi"]);
    },
  });
  await dropDisk(xapi, "vdi");
});

t.test(
  "XAPI tasks of uploads are deleted by the task that has begun them, and no others",
  async (t) => {
    const descriptions: Record<string, string> = {
      own: "task one of xo-server",
      other: "task two of xo-server",
    };
    const { xapi, calls } = fakePool({
      "task.get_by_name_label": (label) =>
        label === "Restore of disk" ? ["gone", "other", "own"] : [],
      "task.get_name_description"(ref) {
        if (ref === "gone") throw new XapiError("HANDLE_INVALID", ["task"]);
        return descriptions[String(ref)];
      },
    });
    await dropUploads(xapi, "disk", "one");
    const ended = calls.filter((one) => /cancel|destroy/.test(one));
    t.same(ended, [
      "task.cancel own",
      "task.set_status own cancelled",
      "task.destroy own",
    ]);
  },
);
