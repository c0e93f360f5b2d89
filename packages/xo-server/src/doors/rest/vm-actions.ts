/** What can be done to a VM by `POST /vms/{id}/actions/{action}`: an operation in the words of this door. */
export interface VmAction {
  readonly action: string;
  readonly operationId: string;
  readonly summary: string;
  /** Of the dispatcher, which decides. */
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Parameter by key of the body; all are texts, none is needed. */
  readonly body?: Readonly<Record<string, string>>;
  /** The state that a VM must be in, where the operation would take others. */
  readonly from?: "Halted" | "Paused";
  /** The result is the id of an object in this folder. */
  readonly creates?: string;
}

const CLEAN = { force: false };
const HARD = { force: true };

export const vmActions: readonly VmAction[] = [
  {
    action: "start",
    operationId: "StartVm",
    summary: "Starts a VM",
    operation: "vm.start",
    body: { hostId: "host" },
    from: "Halted",
  },
  {
    action: "unpause",
    operationId: "UnpauseVm",
    summary: "Lets a paused VM go on",
    operation: "vm.start",
    from: "Paused",
  },
  simple("clean_shutdown", "CleanShutdownVm", "vm.stop", CLEAN),
  simple("hard_shutdown", "HardShutdownVm", "vm.stop", HARD),
  simple("clean_reboot", "CleanRebootVm", "vm.restart", CLEAN),
  simple("hard_reboot", "HardRebootVm", "vm.restart", HARD),
  simple("pause", "PauseVm", "vm.pause"),
  simple("suspend", "SuspendVm", "vm.suspend"),
  simple("resume", "ResumeVm", "vm.resume"),
  {
    action: "snapshot",
    operationId: "SnapshotVm",
    summary: "Makes a snapshot of a VM",
    operation: "vm.snapshot",
    body: { name_label: "name" },
    creates: "vm-snapshots",
  },
];

function simple(
  action: string,
  operationId: string,
  operation: string,
  params: VmAction["params"] = {},
): VmAction {
  const summary = `${action.replace("_", " ")} of a VM`;
  return { action, operationId, summary, operation, params };
}
