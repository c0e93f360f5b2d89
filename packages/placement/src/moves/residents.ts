import type { Layout } from "../layout/layout.js";

/** VMs by host, while a layout changes. */
export class Residents {
  readonly #layout: Layout;
  readonly #lists: number[][];

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#lists = layout.pool.hosts.ids.map(() => []);
    for (const [vm, host] of layout.hostOf.entries())
      if (host >= 0) this.#lists[host]!.push(vm);
  }

  /** Of those listed, who still runs there; in no order that means anything, each once. */
  on(host: number): readonly number[] {
    const { hostOf } = this.#layout;
    return this.#lists[host]!.filter((vm) => hostOf[vm] === host);
  }

  /** To be told of each that has come; those that leave are found out. */
  came(vm: number): void {
    const list = this.#lists[this.#layout.hostOf[vm]!]!;
    if (!list.includes(vm)) list.push(vm);
  }
}
