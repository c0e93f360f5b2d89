import type { Assignment } from "../assignment/assignment.js";
import type { Refusal } from "../model/refusal.js";

/** A rule of the model as a whole: its name and subject. */
export interface Constraint {
  readonly rule: Refusal["rule"];
  /**
   * Id of the network, SR, host affinity, group or VM; kind of device; CPU
   * class.
   */
  readonly subject: string;
}

/** Numbers the rules that are relevant for some VMs. */
export class Constraints {
  readonly list: Constraint[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(rule: Constraint["rule"], of = ""): number {
    const key = `${rule} ${of}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.list.length);
    return this.list.push({ rule, subject: of }) - 1;
  }

  /** @returns undefined: the rule has no number */
  find(rule: Constraint["rule"], of = ""): number | undefined {
    return this.#numbers.get(`${rule} ${of}`);
  }

  /** Whether the rule is about capacity that VMs share. */
  isCapacity(constraint: number): boolean {
    const { rule } = this.list[constraint]!;
    return rule === "memory" || rule === "vcpus" || rule === "device";
  }

  ofRefusal({ pool }: Assignment, rule: Refusal, vm: number): number {
    return this.numberOf(rule.rule, subjectOf(rule, pool.vms.ids[vm]!));
  }
}

function subjectOf(rule: Refusal, vm: string): string {
  switch (rule.rule) {
    case "state":
    case "memory":
    case "vcpus":
      return "";
    case "network":
      return rule.network;
    case "sr":
      return rule.sr;
    case "device":
      return rule.kind;
    case "cpu":
      return rule.needs;
    case "host-affinity":
      return rule.hostAffinity;
    case "group":
      return rule.group;
    case "pinned":
      return vm;
  }
}
