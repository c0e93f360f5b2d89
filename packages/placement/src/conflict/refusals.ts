import { kindOf } from "../solver/vm-kinds.js";
import type { Assignment } from "../assignment/assignment.js";
import { refusalsOf } from "../rules/host-rules.js";
import { Constraints } from "./constraints.js";

/** Caches which rules exclude hosts for VMs before anything is placed. */
export class Refusals {
  readonly constraints = new Constraints();
  readonly #assignment: Assignment;
  readonly #byKind = new Map<string, (readonly number[])[]>();
  readonly #byVm = new Map<number, (readonly number[])[]>();

  /** @param assignment has none of the VMs in question */
  constructor(assignment: Assignment) {
    this.#assignment = assignment;
  }

  /** @returns numbers of constraints; empty: the host accepts the VM */
  of(vm: number, host: number): readonly number[] {
    const row = this.#rowOf(vm);
    return (row[host] ??= this.#find(vm, host));
  }

  /** The refusals of each host. */
  ofAll(vm: number): readonly (readonly number[])[] {
    return this.#assignment.pool.hosts.ids.map((_, host) => this.of(vm, host));
  }

  #find(vm: number, host: number): readonly number[] {
    const constraints = refusalsOf(this.#assignment, vm, host).map((rule) =>
      this.constraints.ofRefusal(this.#assignment, rule, vm),
    );
    return [...new Set(constraints)];
  }

  #rowOf(vm: number): (readonly number[])[] {
    const known = this.#byVm.get(vm);
    if (known !== undefined) return known;
    const kind = kindOf(this.#assignment.pool, vm);
    const row = this.#byKind.get(kind) ?? [];
    this.#byKind.set(kind, row);
    this.#byVm.set(vm, row);
    return row;
  }
}
