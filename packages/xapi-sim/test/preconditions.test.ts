import { checkCases, nfs, find, coordinator } from "./precondition-cases.js";

checkCases([
  [
    "a host with a guest that cannot leave is not emptied",
    (pool) => {
      const vm = pool.guest("Running");
      const host = pool.vm(vm)["resident_on"] as string;
      for (const other of pool.db.refs("host"))
        if (other !== host) pool.db.update("host", other, { enabled: false });
      return {
        call: ["host.assert_can_evacuate", host],
        error: ["CANNOT_EVACUATE_HOST"],
      };
    },
  ],
  [
    "a host is emptied once at a time",
    (pool) => {
      const host = coordinator(pool);
      pool.db.update("host", host, {
        current_operations: { "OpaqueRef:task": "evacuate" },
      });
      return {
        call: ["host.evacuate", host],
        error: ["HOST_EVACUATE_IN_PROGRESS", host],
      };
    },
  ],
  [
    "a blocked operation says why",
    (pool) => {
      const vm = pool.guest("Running");
      pool.db.update("VM", vm, {
        blocked_operations: { clean_shutdown: "because" },
      });
      return {
        call: ["VM.clean_shutdown", vm],
        error: ["OPERATION_BLOCKED", vm, "because"],
      };
    },
  ],
  [
    "a VM with a device of its host does not move",
    (pool) => {
      const vm = pool.guest("Running");
      const pci = find(pool, "PCI", () => true);
      pool.db.update("VM", vm, { attached_PCIs: [pci] });
      return { call: ["VM.suspend", vm], error: ["VM_HAS_PCI_ATTACHED", vm] };
    },
  ],
  [
    "a VM with a GPU of its host does not move",
    (pool) => {
      const vm = pool.guest("Running");
      pool.db.create("VGPU", { VM: vm });
      const host = find(
        pool,
        "host",
        (_, ref) => ref !== pool.vm(vm)["resident_on"],
      );
      return {
        call: ["VM.pool_migrate", vm, host, {}],
        error: ["VM_HAS_VGPU", vm],
      };
    },
  ],
  [
    "no quiesced snapshots",
    (pool) => {
      const vm = pool.guest("Running");
      return {
        call: ["VM.snapshot_with_quiesce", vm, "q"],
        error: ["VM_SNAPSHOT_WITH_QUIESCE_NOT_SUPPORTED", vm],
      };
    },
  ],
  [
    "a suspended VM needs free memory",
    (pool) => {
      const vm = pool.guest("Running");
      const sr = nfs(pool);
      pool.db.update("VM", vm, { suspend_SR: sr });
      pool.db.update("SR", sr, { physical_size: 1, physical_utilisation: 1 });
      return {
        call: ["VM.suspend", vm],
        error: [
          "SR_FULL",
          `${pool.vm(vm)["memory_dynamic_max"] as number}`,
          "0",
        ],
      };
    },
  ],
]);
