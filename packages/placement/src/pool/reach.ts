import type { HostModel, LocationModel, VmModel } from "../model/pool-model.js";
import { BitSet } from "./bit-set.js";

/** VMs that can be on the same hosts, as they ask for the same networks, SRs and locations. */
export interface ReachClass {
  readonly srs: readonly string[];
  readonly networks: readonly string[];
  /** Indices of locations whose score is not finite. */
  readonly locations: readonly number[];
}

/** Which hosts have what VMs ask for. One set for each class of VMs, made when it is first asked for. */
export class Reach {
  readonly classes: readonly ReachClass[];
  /** Of each VM. */
  readonly classOf: Int32Array;
  readonly #hosts: readonly HostModel[];
  readonly #locations: readonly HardLocation[];
  readonly #numbers: Map<string, number>;
  readonly #hostSets: (BitSet | undefined)[] = [];
  readonly #withSr: Map<string, BitSet>;
  readonly #withNetwork: Map<string, BitSet>;

  private constructor(parts: ReachParts) {
    this.classes = parts.classes;
    this.classOf = parts.classOf;
    this.#hosts = parts.hosts;
    this.#locations = parts.locations;
    this.#numbers = parts.numbers;
    this.#withSr = havingOf(parts.hosts, ({ srs }) => srs);
    this.#withNetwork = havingOf(parts.hosts, ({ networks }) => networks);
  }

  /** @param hardOf indices of the locations without a finite score that a VM has */
  static of(
    hosts: readonly HostModel[],
    vms: readonly VmModel[],
    locations: readonly HardLocation[],
    hardOf: (vm: number) => readonly number[],
  ): Reach {
    const classes: ReachClass[] = [];
    const numbers = new Map<string, number>();
    const classOf = new Int32Array(vms.length);
    for (const [vm, model] of vms.entries())
      classOf[vm] = numberOf(toClass(model, hardOf(vm)), classes, numbers);
    return new Reach({ classes, classOf, hosts, locations, numbers });
  }

  /** The same VMs among other hosts. */
  withHosts(hosts: readonly HostModel[]): Reach {
    return new Reach({ ...this.#parts(), hosts });
  }

  /** The same hosts, with a VM that is new (the next number) or another. */
  withVm(vm: number, model: VmModel, hard: readonly number[]): Reach {
    const classes = [...this.classes];
    const numbers = new Map(this.#numbers);
    const classOf = new Int32Array(Math.max(vm + 1, this.classOf.length));
    classOf.set(this.classOf);
    classOf[vm] = numberOf(toClass(model, hard), classes, numbers);
    const next = new Reach({ ...this.#parts(), classes, numbers, classOf });
    for (const [number, set] of this.#hostSets.entries())
      next.#hostSets[number] = set;
    return next;
  }

  /** Hosts that a VM can be on, by what never changes while a plan is made. */
  hostsOf(vm: number): BitSet {
    const number = this.classOf[vm]!;
    return (this.#hostSets[number] ??= this.#find(this.classes[number]!));
  }

  #find({ srs, networks, locations }: ReachClass): BitSet {
    const none = new BitSet(this.#hosts.length);
    const found = BitSet.full(this.#hosts.length);
    for (const sr of srs) found.intersect(this.#withSr.get(sr) ?? none);
    for (const network of networks)
      found.intersect(this.#withNetwork.get(network) ?? none);
    for (const location of locations) {
      const { hosts, isOnly } = this.#locations[location]!;
      const set = new BitSet(this.#hosts.length);
      for (const host of hosts) set.add(host);
      if (isOnly) found.intersect(set);
      else found.subtract(set);
    }
    return found;
  }

  #parts(): ReachParts {
    return {
      classes: this.classes,
      classOf: this.classOf,
      hosts: this.#hosts,
      locations: this.#locations,
      numbers: this.#numbers,
    };
  }
}

interface ReachParts {
  readonly classes: readonly ReachClass[];
  readonly classOf: Int32Array;
  readonly hosts: readonly HostModel[];
  readonly locations: readonly HardLocation[];
  readonly numbers: Map<string, number>;
}

/** A location by the numbers of its hosts. */
export interface HardLocation extends Pick<LocationModel, "score"> {
  readonly hosts: ReadonlySet<number>;
  /** Only there; else never there. Means nothing where the score is finite. */
  readonly isOnly: boolean;
}

function toClass(vm: VmModel, locations: readonly number[]): ReachClass {
  return { srs: sorted(vm.srs), networks: sorted(vm.networks), locations };
}

function sorted(ids: readonly string[]): readonly string[] {
  return ids.length < 2 ? ids : [...new Set(ids)].sort();
}

function numberOf(
  found: ReachClass,
  classes: ReachClass[],
  numbers: Map<string, number>,
): number {
  const { srs, networks, locations } = found;
  const key = `${srs.join("\0")}\n${networks.join("\0")}\n${locations.join()}`;
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, classes.length);
  return classes.push(found) - 1;
}

function havingOf(
  hosts: readonly HostModel[],
  listOf: (host: HostModel) => readonly string[],
): Map<string, BitSet> {
  const having = new Map<string, BitSet>();
  for (const [host, model] of hosts.entries())
    for (const id of listOf(model)) {
      const set = having.get(id) ?? new BitSet(hosts.length);
      set.add(host);
      having.set(id, set);
    }
  return having;
}
