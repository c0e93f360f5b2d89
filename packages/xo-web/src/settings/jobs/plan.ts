import { isObject, type Json } from "@xo-server/kit";

/** One item of the plan of a job. */
interface PlannedItem {
  /** The VM, or the operation. */
  readonly name: string;
  /** Name of the snapshot that it would take. */
  readonly creates?: string;
  /** Names of the snapshots that it would delete. */
  readonly deletes: readonly string[];
  /** Parameters of the operation, as JSON. */
  readonly params?: string;
}

/** The answer of `job.plan` as a list. */
export function toPlan(answer: Json): readonly PlannedItem[] {
  if (!isObject(answer)) return [];
  const { snapshots, calls } = answer;
  if (Array.isArray(snapshots)) return snapshots.filter(isObject).map(toItem);
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).map(({ method, params = {} }) => ({
    name: textOf(method),
    deletes: [],
    params: JSON.stringify(params),
  }));
}

function toItem(snapshot: Readonly<Record<string, Json>>): PlannedItem {
  const { vm, vmName, create } = snapshot;
  const deleted = snapshot["delete"];
  return {
    name: typeof vmName === "string" && vmName !== "" ? vmName : textOf(vm),
    creates: textOf(create),
    deletes: (Array.isArray(deleted) ? deleted : [])
      .filter(isObject)
      .map(({ name }) => textOf(name)),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
