import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type { AbandonedTask } from "../../operations/operation.js";
import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { destroyVm } from "../destroy-vm.js";
import { isHandleInvalid } from "../rollback.js";
import { CREATED_FOR } from "../drives/new-vbds.js";
import { readRecord } from "../xapi-records.js";

/**
 * Persisted. `half`: the VM is incomplete and deleted if the creation is
 * interrupted; `whole`: complete except for its start; `gone`: the creation failed
 * and the VM was deleted.
 */
type Stage = "begun" | "half" | "whole" | "gone";

interface VmCreation {
  /** Id of the template, which determines the pool. */
  readonly template: string;
  readonly name: string;
  /** Id of the part of the task that creates it. Absent: of an earlier version. */
  readonly part?: string;
  readonly stage: Stage;
  readonly ref?: Ref;
  readonly id?: string;
  readonly starts?: boolean;
  /** Names of the disks created for it. */
  readonly disks?: readonly string[];
}

const KEY = "making ";

/** Persists the progress of the creation of a VM, for recovery after a crash of the server. */
export class VmCreationJournal {
  readonly #work: Pick<TaskContext, "persistStep">;
  #creation: VmCreation;

  constructor(
    work: Pick<TaskContext, "persistStep" | "taskId">,
    template: string,
    name: string,
  ) {
    this.#work = work;
    const { taskId: part } = work;
    this.#creation = {
      template,
      name,
      stage: "begun",
      ...(part === undefined ? {} : { part }),
    };
  }

  async write(stage: Stage, more: Partial<VmCreation> = {}): Promise<void> {
    this.#creation = { ...this.#creation, ...more, stage };
    await this.#work.persistStep(
      `${KEY}${this.#creation.name}`,
      this.#creation,
    );
  }
}

/** Outcome of an interrupted creation of a VM. */
interface RecoveredCreation {
  readonly name: string;
  /** Id of a complete VM. */
  readonly id?: string;
  readonly report: string;
}

/** Deletes incomplete VMs, and starts complete ones if requested. */
export async function recoverCreations(
  objects: PoolObjects,
  interrupted: InterruptedTask,
): Promise<RecoveredCreation[]> {
  const settled: RecoveredCreation[] = [];
  for (const creation of await creationsOf(interrupted)) {
    const { name, stage, id } = creation;
    if (stage === "whole" && id !== undefined) {
      await startIfRequested(objects, creation);
      settled.push({ name, id, report: `${name} was created` });
    } else {
      const { report } = await dropIncomplete(objects, creation);
      settled.push({ name, report });
    }
  }
  return settled;
}

/** Deletes incomplete VMs of a task that is not resumed. Complete ones stay, and are not started. */
export async function abandonCreations({
  objects,
  task,
  interrupted,
}: AbandonedTask): Promise<void> {
  for (const creation of await creationsOf(interrupted)) {
    if (creation.stage === "whole") {
      task.warn(`${creation.name} had been created, and is kept`);
      continue;
    }
    const { report, isLeft } = await dropIncomplete(objects, creation);
    if (isLeft) task.warn(report);
  }
}

async function creationsOf(
  interrupted: InterruptedTask,
): Promise<VmCreation[]> {
  const found: VmCreation[] = [];
  for (const [key, step] of interrupted.steps)
    if (key.startsWith(KEY))
      found.push(await withClone(step as VmCreation, interrupted));
  return found;
}

/** Adds the clone of the template if the server was killed while the pool created that. */
async function withClone(
  creation: VmCreation,
  interrupted: InterruptedTask,
): Promise<VmCreation> {
  const { part, stage } = creation;
  if (stage !== "begun" || part === undefined) return creation;
  const ended = await interrupted.awaitOutcomes(part);
  const clone = ended.find(({ xapiTask: { method } }) =>
    COPY_METHODS.has(method),
  );
  if (clone === undefined) return { ...creation, stage: "gone" };
  const { outcome } = clone;
  if (outcome.name === "success" && outcome.result !== undefined)
    return { ...creation, stage: "half", ref: outcome.result };
  const isKnown = outcome.name === "failure" || outcome.name === "not-begun";
  return isKnown ? { ...creation, stage: "gone" } : creation;
}

/** XAPI's methods that copy the template: the first step of each creation. */
const COPY_METHODS: ReadonlySet<string> = new Set(["VM.clone", "VM.copy"]);

async function startIfRequested(
  objects: PoolObjects,
  { template, ref, starts }: VmCreation,
): Promise<void> {
  const { xapi } = objects.get(template, "VM-template");
  const { power_state } = await readRecord(xapi, "VM", ref!);
  if (starts === true && power_state === "Halted")
    await xapi.callAsync("VM.start", [ref, false, false]);
}

interface Dropped {
  readonly report: string;
  /** The VM, or a part of it, may still exist. */
  readonly isLeft?: boolean;
}

async function dropIncomplete(
  objects: PoolObjects,
  { template, name, stage, ref, disks = [] }: VmCreation,
): Promise<Dropped> {
  if (stage === "gone") return { report: `${name} was not created` };
  if (ref === undefined)
    return {
      report: `whether the pool has created the template "${name}" for ${name} is unknown`,
      isLeft: true,
    };
  const { xapi } = objects.get(template, "VM-template");
  const all = { deleteDisks: true, bypassBlock: true };
  try {
    await destroyVm(xapi, ref, { ...all, evenDefaultTemplate: true });
  } catch (error) {
    if (!isHandleInvalid(error))
      return {
        report: `${name} was created partially and still exists: ${ref}`,
        isLeft: true,
      };
  }
  await deleteUnattached(xapi, ref, disks);
  return { report: `${name} was created partially, and was deleted` };
}

/** Deletes disks that were created but not attached when the server crashed. */
async function deleteUnattached(
  xapi: Xapi,
  vm: Ref,
  names: readonly string[],
): Promise<void> {
  for (const name of new Set(names))
    for (const vdi of (await xapi.call("VDI.get_by_name_label", [
      name,
    ])) as readonly Ref[]) {
      const record = await readRecord(xapi, "VDI", vdi);
      if (record.other_config[CREATED_FOR] === vm && record.VBDs.length === 0)
        await xapi.callAsync("VDI.destroy", [vdi]);
    }
}

/** @throws XoError INTERRUPTED: the VM was not created */
export function onlyCreated(settled: readonly RecoveredCreation[]): string {
  const [one] = settled;
  if (one?.id !== undefined) return one.id;
  const reason = one?.report ?? "nothing was created";
  throw new XoError("INTERRUPTED", { reason });
}

/** @throws XoError INTERRUPTED: not all VMs were created */
export function allCreated(
  settled: readonly RecoveredCreation[],
  names: readonly string[],
): { readonly id: string; readonly name: string }[] {
  const created = settled.flatMap(({ id, name }) =>
    id === undefined ? [] : [{ id, name }],
  );
  if (created.length === names.length) return created;
  const reported = new Set(settled.map(({ name }) => name));
  const rest = names.filter((name) => !reported.has(name));
  const reason = [
    ...settled.map(({ report: said }) => said),
    ...(rest.length === 0 ? [] : [`not started: ${rest.join(", ")}`]),
  ].join("; ");
  throw new XoError("INTERRUPTED", { reason, created });
}
