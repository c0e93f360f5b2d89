/**
 * Hosts ordered by a changing key, filtered by free memory: a tree of maxima.
 *
 *     max(key), max(free)
 *     /                \
 * hosts 0, 1 hosts 2, 3 an update costs one path;
 *     /     \           /     \       hosts are visited by descending key
 * 0 1 2 3 without visiting those with too little memory
 */
export class HostTree {
  readonly #leaves: number;
  readonly #keys: Float64Array;
  readonly #free: Float64Array;
  /** Binary heap of tree nodes still to be expanded, by key. */
  readonly #open: Int32Array;
  #openCount = 0;

  constructor(hosts: number) {
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(2, hosts)));
    this.#keys = new Float64Array(this.#leaves * 2).fill(-Infinity);
    this.#free = new Float64Array(this.#leaves * 2).fill(-Infinity);
    this.#open = new Int32Array(this.#leaves * 2);
  }

  clone(): HostTree {
    const copy = new HostTree(this.#leaves);
    copy.#keys.set(this.#keys);
    copy.#free.set(this.#free);
    return copy;
  }

  /** @param key -Infinity: the host is never visited */
  set(host: number, key: number, free: number): void {
    let node = this.#leaves + host;
    this.#keys[node] = key;
    this.#free[node] = key === -Infinity ? -Infinity : free;
    for (node >>= 1; node > 0; node >>= 1) {
      const left = node * 2;
      this.#keys[node] = Math.max(this.#keys[left]!, this.#keys[left + 1]!);
      this.#free[node] = Math.max(this.#free[left]!, this.#free[left + 1]!);
    }
  }

  /**
   * Visits hosts with at least `needed` bytes free, by descending key, then
   * ascending number.
   * @param take returns true to stop
   */
  visitByKey(
    needed: number,
    take: (host: number, key: number) => boolean,
  ): void {
    this.#openCount = 0;
    this.#push(1, needed);
    while (this.#openCount > 0) {
      const node = this.#pop();
      if (node >= this.#leaves) {
        if (take(node - this.#leaves, this.#keys[node]!)) return;
        continue;
      }
      this.#push(node * 2, needed);
      this.#push(node * 2 + 1, needed);
    }
  }

  #isBefore(a: number, b: number): boolean {
    const byKey = this.#keys[a]! - this.#keys[b]!;
    if (byKey !== 0) return byKey > 0;
    return this.#firstLeaf(a) < this.#firstLeaf(b);
  }

  #firstLeaf(node: number): number {
    let leaf = node;
    while (leaf < this.#leaves) leaf *= 2;
    return leaf;
  }

  #push(node: number, needed: number): void {
    if (this.#keys[node] === -Infinity || this.#free[node]! < needed) return;
    const open = this.#open;
    let at = this.#openCount++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(node, open[parent]!)) break;
      open[at] = open[parent]!;
      at = parent;
    }
    open[at] = node;
  }

  #pop(): number {
    const open = this.#open;
    const top = open[0]!;
    const last = open[--this.#openCount]!;
    const count = this.#openCount;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= count) break;
      if (child + 1 < count && this.#isBefore(open[child + 1]!, open[child]!))
        child++;
      if (!this.#isBefore(open[child]!, last)) break;
      open[at] = open[child]!;
      at = child;
    }
    open[at] = last;
    return top;
  }
}
