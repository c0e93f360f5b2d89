import { isObject, type Json } from "@xo-server/kit";

/** One thing that a run would do. */
export interface PlannedItem {
  /** The VM, or the operation. */
  readonly name: string;
  /** Name of the snapshot that it would take. */
  readonly creates?: string;
  /** Names of those that it would delete. */
  readonly deletes: readonly string[];
  /** Of an operation, as JSON. */
  readonly params?: string;
}

/** What `job.plan` answers, as a list. */
export function toPlan(told: Json): readonly PlannedItem[] {
  if (!isObject(told)) return [];
  const { snapshots, calls } = told;
  if (Array.isArray(snapshots)) return snapshots.filter(isObject).map(toItem);
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).map(({ method, params = {} }) => ({
    name: words(method),
    deletes: [],
    params: JSON.stringify(params),
  }));
}

function toItem(snapshot: Readonly<Record<string, Json>>): PlannedItem {
  const { vm, vmName, create } = snapshot;
  const gone = snapshot["delete"];
  return {
    name: typeof vmName === "string" && vmName !== "" ? vmName : words(vm),
    creates: words(create),
    deletes: (Array.isArray(gone) ? gone : [])
      .filter(isObject)
      .map(({ name }) => words(name)),
  };
}

function words(told: Json | undefined): string {
  return typeof told === "string" ? told : "";
}
