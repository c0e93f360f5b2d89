import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObjects } from "../../objects/pool-objects.js";
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
    work: Pick<TaskContext, "persistStep">,
    template: string,
    name: string,
  ) {
    this.#work = work;
    this.#creation = { template, name, stage: "begun" };
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
export interface RecoveredCreation {
  readonly name: string;
  /** Id of a complete VM. */
  readonly id?: string;
  readonly report: string;
}

/** Deletes incomplete VMs, and starts complete ones if requested. */
export async function recoverCreations(
  objects: PoolObjects,
  steps: ReadonlyMap<string, unknown>,
): Promise<RecoveredCreation[]> {
  const settled: RecoveredCreation[] = [];
  for (const [key, step] of steps)
    if (key.startsWith(KEY))
      settled.push(await recover(objects, step as VmCreation));
  return settled;
}

async function recover(
  objects: PoolObjects,
  { template, name, stage, ref, id, starts, disks = [] }: VmCreation,
): Promise<RecoveredCreation> {
  const { xapi } = objects.get(template, "VM-template");
  if (stage === "gone") return { name, report: `${name} was not created` };
  if (ref === undefined)
    return {
      name,
      report: `whether the pool has created the template "${name}" for ${name} is unknown`,
    };
  if (stage === "whole" && id !== undefined) {
    const { power_state } = await readRecord(xapi, "VM", ref);
    if (starts === true && power_state === "Halted")
      await xapi.callAsync("VM.start", [ref, false, false]);
    return { name, id, report: `${name} was created` };
  }
  const all = { deleteDisks: true, bypassBlock: true };
  try {
    await destroyVm(xapi, ref, { ...all, evenDefaultTemplate: true });
  } catch (error) {
    if (!isHandleInvalid(error))
      return {
        name,
        report: `${name} was created partially and still exists: ${ref}`,
      };
  }
  await deleteUnattached(xapi, ref, disks);
  return { name, report: `${name} was created partially, and was deleted` };
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
