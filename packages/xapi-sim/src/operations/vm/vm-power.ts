import type { CallContext, OperationTable } from "../../operation.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { progressDuring, whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import {
  flag,
  int,
  refIn,
  refs,
  text,
  textParam,
} from "../../records/fields.js";
import { XapiFailure } from "../../xapi-failure.js";
import { createVmMessage } from "../effects/messages.js";
import {
  hasAgentOrIsPv,
  isPv,
  refreshVdi,
  refreshVm,
} from "../effects/refresh.js";
import { memoryNeeded, whileExpected } from "../capacity/host-memory.js";
import {
  assertCanBootHere,
  assertStillRuns,
  assertVmMay,
  chooseHost,
  type CheckedOperation,
} from "./vm-checks.js";
import { assertNotOpen } from "../storage/vbd.js";
import { takeSpace } from "../storage/sr-space.js";
import { dropSuspendImage } from "./vm-destroy.js";
import { bootGuest, buildDomain, endDomain, renewDomain } from "./vm-domain.js";

export const vmPowerOperations: OperationTable = {
  "VM.start": launchAnywhere("start", start),
  "VM.start_on": launchOn("start_on", start),
  "VM.pause": (context, params) =>
    act(context, textParam(params, 0), "pause", async (vm) => {
      await context.delay(durations.pause);
      context.db.update("VM", vm, { power_state: "Paused" });
    }),
  "VM.unpause": (context, params) =>
    act(context, textParam(params, 0), "unpause", async (vm) => {
      await context.delay(durations.pause);
      context.db.update("VM", vm, { power_state: "Running" });
    }),
  "VM.clean_shutdown": (context, params) =>
    cleanShutdown(context, textParam(params, 0)),
  "VM.hard_shutdown": (context, params) =>
    hardShutdown(context, textParam(params, 0)),
  "VM.shutdown": (context, params) => {
    const vm = textParam(params, 0);
    assertNotBlocked(context.db, vm, "shutdown");
    const clean =
      context.db.find("VM", vm)?.["power_state"] === "Running" &&
      hasAgentOrIsPv(context.db, vm);
    return clean ? cleanShutdown(context, vm) : hardShutdown(context, vm);
  },
  "VM.clean_reboot": (context, params) =>
    act(context, textParam(params, 0), "clean_reboot", async (vm) => {
      await progressDuring(context, durations.reboot);
      assertStillRuns(context.db, vm);
      renewDomain(context, vm);
      createVmMessage(context, vm, "VM_REBOOTED", "rebooted cleanly");
    }),
  "VM.hard_reboot": (context, params) =>
    act(context, textParam(params, 0), "hard_reboot", async (vm) => {
      await progressDuring(context, durations.reboot / 2);
      assertStillRuns(context.db, vm);
      renewDomain(context, vm);
      createVmMessage(context, vm, "VM_REBOOTED", "rebooted forcibly");
    }),
  "VM.suspend": (context, params) =>
    act(context, textParam(params, 0), "suspend", (vm) => suspend(context, vm)),
  "VM.resume": launchAnywhere("resume", resume),
  "VM.resume_on": launchOn("resume_on", resume),
  "VM.power_state_reset": ({ db, ...rest }, params) => {
    const vm = textParam(params, 0);
    if (flag(db.get("VM", vm), "is_control_domain"))
      throw new XapiFailure("OPERATION_NOT_ALLOWED", [
        "Operation is not allowed on the control domain",
      ]);
    assertNotBlocked(db, vm, "power_state_reset");
    endDomain({ db, ...rest }, vm, "Halted");
    refreshVm(db, vm);
  },
};

/** Checks, then works while the VM shows the operation. */
async function act(
  context: CallContext,
  vm: string,
  operation: CheckedOperation,
  work: (vm: string) => Promise<void>,
): Promise<void> {
  assertVmMay(context.db, vm, operation);
  await whileBusy(context, { className: "VM", ref: vm }, operation, () =>
    work(vm),
  );
}

interface Launch {
  readonly host: string;
  readonly paused: boolean;
  readonly operation: string;
}

type Launcher = (
  context: CallContext,
  vm: string,
  launch: Launch,
) => Promise<void>;

/** (vm, start_paused, force): on a host that XAPI chooses. */
function launchAnywhere(
  operation: CheckedOperation,
  launch: Launcher,
): OperationTable[string] {
  return (context, params) => {
    const vm = textParam(params, 0);
    assertVmMay(context.db, vm, operation);
    assertBootable(context, vm);
    const host = chooseHost(context, vm);
    return launch(context, vm, { host, paused: params[1] === true, operation });
  };
}

/** (vm, host, start_paused, force) */
function launchOn(
  operation: CheckedOperation,
  launch: Launcher,
): OperationTable[string] {
  return (context, params) => {
    const [vm, host] = [textParam(params, 0), textParam(params, 1)];
    assertVmMay(context.db, vm, operation);
    assertBootable(context, vm);
    assertCanBootHere(context, vm, host);
    return launch(context, vm, { host, paused: params[2] === true, operation });
  };
}

/** @throws XapiFailure INVALID_VALUE: a PV guest without kernel; VDI_IN_USE */
function assertBootable({ db }: CallContext, vm: string): void {
  const record = db.get("VM", vm);
  const boots = ["PV_bootloader", "PV_kernel"].some((name) => record[name]);
  if (isPv(record) && !boots)
    throw new XapiFailure("INVALID_VALUE", [
      "kernel",
      "",
      "File does not exist",
    ]);
  const written = new Set<string>();
  for (const ref of refs(record, "VBDs")) {
    assertNotOpen(db, ref);
    const vbd = db.get("VBD", ref);
    const vdi = db.find("VDI", text(vbd, "VDI"));
    if (vdi === undefined || flag(vdi, "sharable")) continue;
    if (text(vbd, "mode") !== "RW") continue;
    if (written.has(text(vbd, "VDI")))
      throw new XapiFailure("VDI_IN_USE", [text(vbd, "VDI"), "attach"]);
    written.add(text(vbd, "VDI"));
  }
}

async function start(
  context: CallContext,
  vm: string,
  { host, paused, operation }: Launch,
): Promise<void> {
  await whileBusy(
    context,
    { className: "VM", ref: vm },
    operation,
    async () => {
      await whileExpected(context, { vm, host }, async () => {
        await progressDuring(context, durations.start);
        // The host may have been removed in the meantime.
        assertCanBootHere(context, vm, host);
      });
      buildDomain(context, vm, host);
      bootGuest(context, vm);
      if (paused) context.db.update("VM", vm, { power_state: "Paused" });
      createVmMessage(
        context,
        vm,
        "VM_STARTED",
        `started on host: ${hostTitle(context, host)}`,
      );
    },
  );
}

function cleanShutdown(context: CallContext, ref: string): Promise<void> {
  return act(context, ref, "clean_shutdown", async (vm) => {
    await progressDuring(context, durations.cleanShutdown);
    // A hard shutdown came first: the VM is halted all the same.
    if (text(context.db.get("VM", vm), "power_state") === "Halted") return;
    endDomain(context, vm, "Halted");
    createVmMessage(context, vm, "VM_SHUTDOWN", "shutdown cleanly");
  });
}

function hardShutdown(context: CallContext, ref: string): Promise<void> {
  return act(context, ref, "hard_shutdown", async (vm) => {
    await progressDuring(context, durations.hardShutdown);
    dropSuspendImage(context, vm);
    endDomain(context, vm, "Halted");
    createVmMessage(context, vm, "VM_SHUTDOWN", "shutdown forcibly");
  });
}

async function suspend(context: CallContext, vm: string): Promise<void> {
  const { db, pool } = context;
  const record = db.get("VM", vm);
  const sr =
    refIn(record, "suspend_SR") ??
    refIn(db.get("pool", pool.poolRef), "suspend_image_SR");
  if (sr === undefined) throw new XapiFailure("VM_NO_SUSPEND_SR", [vm]);
  await progressDuring(context, durations.suspend);
  assertStillRuns(db, vm);
  takeSpace(context, sr, int(record, "memory_dynamic_max"));
  const uuid = context.random.uuid();
  const suspend_VDI = db.create("VDI", {
    uuid,
    location: uuid,
    name_label: "Suspend image",
    name_description: `Suspend image of ${text(record, "name_label")}`,
    SR: sr,
    virtual_size: memoryNeeded(record),
    physical_utilisation: int(record, "memory_dynamic_max"),
    type: "suspend",
    managed: true,
  });
  context.state.disks.create(uuid, memoryNeeded(record));
  refreshVdi(db, suspend_VDI);
  db.update("VM", vm, { suspend_VDI });
  endDomain(context, vm, "Suspended");
  createVmMessage(context, vm, "VM_SUSPENDED", "suspended");
}

async function resume(
  context: CallContext,
  vm: string,
  { host, paused, operation }: Launch,
): Promise<void> {
  await whileBusy(
    context,
    { className: "VM", ref: vm },
    operation,
    async () => {
      await whileExpected(context, { vm, host }, async () => {
        await progressDuring(context, durations.resume);
        assertCanBootHere(context, vm, host);
      });
      buildDomain(context, vm, host);
      context.db.update("VM", vm, {
        power_state: paused ? "Paused" : "Running",
      });
      dropSuspendImage(context, vm);
      createVmMessage(
        context,
        vm,
        "VM_RESUMED",
        `resumed on host: ${hostTitle(context, host)}`,
      );
    },
  );
}

/** How XAPI names a host in the body of messages: `name (uuid: ...)`. */
export function hostTitle(
  { db }: Pick<CallContext, "db">,
  host: string,
): string {
  const record = db.get("host", host);
  return `${text(record, "name_label")} (uuid: ${text(record, "uuid")})`;
}
