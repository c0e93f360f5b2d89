import type { Layout } from "../layout/layout.js";
import type { Rule } from "../model/rule.js";

/** A rule of the model, taken as a whole, by its name and what it is about. */
export interface Atom {
  readonly rule: Rule["rule"];
  /** Id of the network, SR, location, group or VM; kind of device; CPU. */
  readonly of: string;
}

/** Numbers for the rules of a model that matter to some VMs. */
export class Atoms {
  readonly list: Atom[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(rule: Atom["rule"], of = ""): number {
    const key = `${rule} ${of}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.list.length);
    return this.list.push({ rule, of }) - 1;
  }

  /** @returns undefined: nothing has been said by this rule */
  find(rule: Atom["rule"], of = ""): number | undefined {
    return this.#numbers.get(`${rule} ${of}`);
  }

  /** Whether it is about what VMs take of hosts. */
  isRoom(atom: number): boolean {
    const { rule } = this.list[atom]!;
    return rule === "memory" || rule === "vcpus" || rule === "device";
  }

  ofRefusal({ pool }: Layout, rule: Rule, vm: number): number {
    return this.numberOf(rule.rule, subjectOf(rule, pool.vms.ids[vm]!));
  }
}

function subjectOf(rule: Rule, vm: string): string {
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
    case "location":
      return rule.location;
    case "group":
      return rule.group;
    case "pinned":
      return vm;
  }
}
