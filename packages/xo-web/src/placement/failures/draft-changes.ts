import type { Protection } from "./fleet.js";

/** A change of the pool that is simulated. Hosts and VMs by id, memory in bytes. */
export type DraftChange =
  | {
      readonly kind: "addHosts";
      readonly host: string;
      readonly count: number;
    }
  | { readonly kind: "removeHost"; readonly host: string }
  | {
      readonly kind: "addVms";
      readonly count: number;
      readonly memory: number;
      readonly vcpus: number;
      readonly protection: Protection;
    }
  | {
      readonly kind: "setMemory";
      readonly vm: string;
      readonly memory: number;
    };

type DraftKind = DraftChange["kind"];

export const draftKinds: readonly DraftKind[] = [
  "addHosts",
  "removeHost",
  "addVms",
  "setMemory",
];

/** Parsed values of the form fields; memory in GiB. */
export interface DraftForm {
  readonly kind: DraftKind;
  readonly host: string;
  readonly count: number;
  readonly gib: number;
  readonly vcpus: number;
  readonly protection: Protection;
  readonly vm: string;
}

const GIB = 2 ** 30;
/** Limits of one request. */
const MAX_COUNTS = { addHosts: 16, addVms: 1_000 } as const;

/** The change of the form; undefined: incomplete. */
export function draftOf(form: DraftForm): DraftChange | undefined {
  const { kind, host, vm, vcpus, protection } = form;
  const count = Math.floor(form.count);
  const memory = Math.round(form.gib * GIB);
  switch (kind) {
    case "addHosts":
      return host !== "" && count >= 1 && count <= MAX_COUNTS.addHosts
        ? { kind, host, count }
        : undefined;
    case "removeHost":
      return host === "" ? undefined : { kind, host };
    case "addVms":
      return count >= 1 &&
        count <= MAX_COUNTS.addVms &&
        memory > 0 &&
        vcpus >= 1
        ? { kind, count, memory, vcpus: Math.floor(vcpus), protection }
        : undefined;
    case "setMemory":
      return vm !== "" && memory > 0 ? { kind, vm, memory } : undefined;
  }
}

/** Adds a change; an earlier change of the same host or VM is replaced. */
export function withDraft(
  drafts: readonly DraftChange[],
  next: DraftChange,
): readonly DraftChange[] {
  const others = drafts.filter(
    (one) =>
      !(
        (one.kind === "removeHost" &&
          next.kind === "removeHost" &&
          one.host === next.host) ||
        (one.kind === "setMemory" &&
          next.kind === "setMemory" &&
          one.vm === next.vm)
      ),
  );
  return [...others, next];
}
