import { kindOf } from "../fit/vm-kinds.js";
import type { Layout } from "../layout/layout.js";
import { refusalsOf } from "../rules/host-rules.js";
import { Atoms } from "./atoms.js";

/** Which rules keep VMs out of hosts before anything is placed; each answer is looked up once. */
export class Refusals {
  readonly atoms = new Atoms();
  readonly #layout: Layout;
  readonly #byKind = new Map<string, (readonly number[])[]>();
  readonly #byVm = new Map<number, (readonly number[])[]>();

  /** @param layout has none of the VMs that will be asked for */
  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** @returns numbers of atoms; none: the host takes the VM */
  of(vm: number, host: number): readonly number[] {
    const row = this.#rowOf(vm);
    return (row[host] ??= this.#find(vm, host));
  }

  /** Of each host. */
  ofAll(vm: number): readonly (readonly number[])[] {
    return this.#layout.pool.hosts.ids.map((_, host) => this.of(vm, host));
  }

  #find(vm: number, host: number): readonly number[] {
    const atoms = refusalsOf(this.#layout, vm, host).map((rule) =>
      this.atoms.ofRefusal(this.#layout, rule, vm),
    );
    return [...new Set(atoms)];
  }

  #rowOf(vm: number): (readonly number[])[] {
    const known = this.#byVm.get(vm);
    if (known !== undefined) return known;
    const kind = kindOf(this.#layout.pool, vm);
    const row = this.#byKind.get(kind) ?? [];
    this.#byKind.set(kind, row);
    this.#byVm.set(vm, row);
    return row;
  }
}
