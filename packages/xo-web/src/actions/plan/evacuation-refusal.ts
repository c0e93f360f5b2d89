import { fill, type Messages } from "../../locale/messages.js";

/** A VM that cannot be migrated to another host, as the server reports it. */
export interface StuckVm {
  readonly id: string;
  readonly name: string;
  /** Error code of XAPI, or NO_HOST_FOR_VM. */
  readonly code: string;
  /** Of NO_HOST_FOR_VM: names of the placement rules that refuse. */
  readonly params?: readonly string[];
}

/** VMs that are named in one message. */
const NAMED = 5;

/** Why a VM cannot be migrated to another host; the code where there is no text. */
export function stuckReason(
  { code, params = [] }: Pick<StuckVm, "code" | "params">,
  text: Messages,
): string {
  const { pinned, ruleNames } = text.placementFailures;
  if (code === "NO_HOST_FOR_VM" && params.length > 0)
    return params.map((rule) => wordsFor(rule, ruleNames)).join(", ");
  return wordsFor(code, pinned);
}

/** Text of a VMS_CANNOT_LEAVE error; the server's message if it names no VMs. */
export function evacuationRefusal(
  { message, data }: { readonly message: string; readonly data?: unknown },
  text: Messages,
): string {
  const vms = vmsOf(data);
  if (vms.length === 0) return message;
  const { cannotLeave, andMore } = text.actions.errors;
  const count = countOf(data) ?? vms.length;
  const named = vms
    .slice(0, NAMED)
    .map((vm) => `${vm.name} (${stuckReason(vm, text)})`);
  const more = count - named.length;
  if (more > 0) named.push(fill(andMore, { n: String(more) }));
  return fill(cannotLeave, { vms: named.join(", ") });
}

function wordsFor(code: string, texts: Readonly<Record<string, string>>) {
  return Object.hasOwn(texts, code) ? texts[code]! : code;
}

function vmsOf(data: unknown): readonly StuckVm[] {
  const { vms } = (data ?? {}) as { readonly vms?: unknown };
  return Array.isArray(vms) ? (vms as readonly StuckVm[]) : [];
}

function countOf(data: unknown): number | undefined {
  const { count } = (data ?? {}) as { readonly count?: unknown };
  return typeof count === "number" ? count : undefined;
}
