/** An action that a client requests of any server. */
export interface RequestedAction {
  /** As a CountedLink counts it: `VM.snapshot OpaqueRef:…`. */
  readonly call: string;
  readonly path: string;
  readonly body: object;
}

/** A VM as the server shows it. */
interface Vm {
  readonly id: string;
  readonly power_state: string;
  readonly _xapiRef: string;
  readonly $container: string;
}

/** One action for each VM, so that a call tells by its object who requested it. */
export function actionsFor(
  vms: readonly Vm[],
  hosts: readonly string[],
): RequestedAction[] {
  return vms.map((vm, i) => {
    const to = (name: string, method: string, body: object = {}) => ({
      call: `${method} ${vm._xapiRef}`,
      path: `/vms/${vm.id}/actions/${name}`,
      body,
    });
    if (vm.power_state === "Halted") return to("start", "VM.start");
    if (i % 3 === 0) return to("snapshot", "VM.snapshot", { name_label: "s" });
    if (i % 3 === 1) return to("hard_reboot", "VM.hard_reboot");
    const host = hosts.find((id) => id !== vm.$container)!;
    return to("migrate", "VM.pool_migrate", { hostId: host });
  });
}
