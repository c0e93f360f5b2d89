import t from "tap";
import { failureReasons } from "../src/jobs/failure-reasons.js";

const vm = (name: string, status: string, more: object = {}) => ({
  name,
  status,
  ...more,
});
const place = (name: string, message: string) => ({
  name,
  status: "failure",
  error: { message },
});

t.test("a reason names the VMs and the repository that failed", async (t) => {
  const full = {
    repositories: [place("nightly", "full"), vm("s3", "success")],
  };
  t.equal(
    failureReasons({
      vms: [
        vm("web-1", "failure", full),
        vm("web-2", "failure", full),
        vm("db", "failure", { error: { message: "VM_IS_SNAPSHOT" } }),
        vm("old", "aborted", { reason: "stopped" }),
        vm("good", "success"),
      ],
    }),
    "web-1, web-2: nightly: full; db: VM_IS_SNAPSHOT; old: stopped",
  );
  t.equal(
    failureReasons({ items: [vm("pool A", "failure", full)] }),
    "pool A: nightly: full",
  );
});

t.test("calls that failed are named by their methods", async (t) => {
  t.equal(
    failureReasons({
      calls: [
        { method: "vm.start" },
        { method: "vm.stop", error: { message: "no host" } },
        { method: "vm.stop", error: { leftOut: "9000 characters" } },
      ],
    }),
    "vm.stop: no host; vm.stop: unknown",
  );
  t.equal(failureReasons({ calls: [] }), "");
});

t.test("many reasons and names are counted, long ones cut", async (t) => {
  const vms = Array.from({ length: 9 }, (_, i) =>
    vm(`vm-${i}`, "failure", { error: { message: `m${Math.min(i, 4)}` } }),
  );
  t.equal(failureReasons({ vms }), "vm-0: m0; vm-1: m1; vm-2: m2; and 2 more");
  t.equal(
    failureReasons({ vms: vms.slice(4) }),
    "vm-4, vm-5, vm-6, and 2 more: m4",
  );
  const long = vm("a", "failure", { error: { message: "x".repeat(900) } });
  t.equal(failureReasons({ vms: [long] }).length, 204);
});
