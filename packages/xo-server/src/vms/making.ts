import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { destroyVm } from "./destroy-vm.js";
import { isGone } from "./made.js";
import { MADE_FOR } from "./new-drives.js";
import { readRecord } from "./xapi-records.js";

/** `half`: it goes again where its making breaks off; `whole`: all is done but its start; `gone`: it failed, and is removed. */
type Stage = "begun" | "half" | "whole" | "gone";

interface Making {
  /** Id of its template, by which its pool is found. */
  readonly template: string;
  readonly name: string;
  readonly stage: Stage;
  readonly ref?: Ref;
  readonly id?: string;
  readonly starts?: boolean;
  /** Names of disks that are made for it. */
  readonly disks?: readonly string[];
}

const KEY = "making ";

/** How far the making of one VM is, written down for a server that dies meanwhile. */
export class MakingNote {
  readonly #work: Pick<TaskContext, "persistStep">;
  #making: Making;

  constructor(
    work: Pick<TaskContext, "persistStep">,
    template: string,
    name: string,
  ) {
    this.#work = work;
    this.#making = { template, name, stage: "begun" };
  }

  async write(stage: Stage, more: Partial<Making> = {}): Promise<void> {
    this.#making = { ...this.#making, ...more, stage };
    await this.#work.persistStep(`${KEY}${this.#making.name}`, this.#making);
  }
}

/** What became of the making of a VM in a run that broke off. */
export interface Settled {
  readonly name: string;
  /** Of a VM that is whole. */
  readonly id?: string;
  readonly said: string;
}

/** What is half-made goes, what is whole starts if it was to. */
export async function settleMakings(
  objects: PoolObjects,
  steps: ReadonlyMap<string, unknown>,
): Promise<Settled[]> {
  const settled: Settled[] = [];
  for (const [key, step] of steps)
    if (key.startsWith(KEY))
      settled.push(await settle(objects, step as Making));
  return settled;
}

async function settle(
  objects: PoolObjects,
  { template, name, stage, ref, id, starts, disks = [] }: Making,
): Promise<Settled> {
  const { xapi } = objects.get(template, "VM-template");
  if (stage === "gone") return { name, said: `${name} was not made` };
  if (ref === undefined)
    return {
      name,
      said: `whether the pool has made a template "${name}", of which ${name} was to become, is not known`,
    };
  if (stage === "whole" && id !== undefined) {
    const { power_state } = await readRecord(xapi, "VM", ref);
    if (starts === true && power_state === "Halted")
      await xapi.callAsync("VM.start", [ref, false, false]);
    return { name, id, said: `${name} is made` };
  }
  const all = { deleteDisks: true, bypassBlock: true };
  try {
    await destroyVm(xapi, ref, { ...all, evenDefaultTemplate: true });
  } catch (error) {
    if (!isGone(error))
      return { name, said: `${name} is half-made and still there: ${ref}` };
  }
  await removeLoose(xapi, ref, disks);
  return { name, said: `${name} was half-made, and is removed` };
}

/** Disks that the server died between making and attaching. */
async function removeLoose(
  xapi: Xapi,
  vm: Ref,
  names: readonly string[],
): Promise<void> {
  for (const name of new Set(names))
    for (const vdi of (await xapi.call("VDI.get_by_name_label", [
      name,
    ])) as readonly Ref[]) {
      const record = await readRecord(xapi, "VDI", vdi);
      if (record.other_config[MADE_FOR] === vm && record.VBDs.length === 0)
        await xapi.callAsync("VDI.destroy", [vdi]);
    }
}

/** @throws XoError INTERRUPTED: it is not made */
export function onlySettled(settled: readonly Settled[]): string {
  const [one] = settled;
  if (one?.id !== undefined) return one.id;
  const reason = one?.said ?? "nothing was made";
  throw new XoError("INTERRUPTED", { reason });
}

/** @throws XoError INTERRUPTED: not all of these are made */
export function allSettled(
  settled: readonly Settled[],
  names: readonly string[],
): { readonly id: string; readonly name: string }[] {
  const made = settled.flatMap(({ id, name }) =>
    id === undefined ? [] : [{ id, name }],
  );
  if (made.length === names.length) return made;
  const told = new Set(settled.map(({ name }) => name));
  const rest = names.filter((name) => !told.has(name));
  const reason = [
    ...settled.map(({ said }) => said),
    ...(rest.length === 0 ? [] : [`not begun: ${rest.join(", ")}`]),
  ].join("; ");
  throw new XoError("INTERRUPTED", { reason, created: made });
}
