import type {
  HostModel,
  HostAffinityModel,
  VmModel,
} from "../model/pool-model.js";
import { BitSet } from "./bit-set.js";

/**
 * VMs with the same networks, SRs and required host affinities are eligible for
 * the same hosts.
 */
interface EligibilityClass {
  readonly srs: readonly string[];
  readonly networks: readonly string[];
  /** Indices of host affinities whose score is not finite. */
  readonly hostAffinities: readonly number[];
}

/**
 * The hosts that each VM is eligible for. Computed once for each class of VMs,
 * on first use.
 */
export class Eligibility {
  readonly classes: readonly EligibilityClass[];
  /** Class of each VM. */
  readonly classOf: Int32Array;
  readonly #hosts: readonly HostModel[];
  readonly #hostAffinities: readonly IndexedHostAffinity[];
  readonly #numbers: Map<string, number>;
  readonly #hostSets: (BitSet | undefined)[] = [];
  readonly #withSr: Map<string, BitSet>;
  readonly #withNetwork: Map<string, BitSet>;

  private constructor(parts: EligibilityParts) {
    this.classes = parts.classes;
    this.classOf = parts.classOf;
    this.#hosts = parts.hosts;
    this.#hostAffinities = parts.hostAffinities;
    this.#numbers = parts.numbers;
    this.#withSr = hostsByItem(parts.hosts, ({ srs }) => srs);
    this.#withNetwork = hostsByItem(parts.hosts, ({ networks }) => networks);
  }

  /**
   * @param hardOf indices of the VM's host affinities whose score is not finite
   */
  static of(
    hosts: readonly HostModel[],
    vms: readonly VmModel[],
    hostAffinities: readonly IndexedHostAffinity[],
    hardOf: (vm: number) => readonly number[],
  ): Eligibility {
    const classes: EligibilityClass[] = [];
    const numbers = new Map<string, number>();
    const classOf = new Int32Array(vms.length);
    for (const [vm, model] of vms.entries())
      classOf[vm] = classNumberOf(toClass(model, hardOf(vm)), classes, numbers);
    return new Eligibility({
      classes,
      classOf,
      hosts,
      hostAffinities,
      numbers,
    });
  }

  /** The same VMs with other hosts. */
  withHosts(hosts: readonly HostModel[]): Eligibility {
    return new Eligibility({ ...this.#parts(), hosts });
  }

  /** The same hosts with one VM added (the next number) or replaced. */
  withVm(vm: number, model: VmModel, hard: readonly number[]): Eligibility {
    const classes = [...this.classes];
    const numbers = new Map(this.#numbers);
    const classOf = new Int32Array(Math.max(vm + 1, this.classOf.length));
    classOf.set(this.classOf);
    classOf[vm] = classNumberOf(toClass(model, hard), classes, numbers);
    const next = new Eligibility({
      ...this.#parts(),
      classes,
      numbers,
      classOf,
    });
    for (const [number, set] of this.#hostSets.entries())
      next.#hostSets[number] = set;
    return next;
  }

  /**
   * Hosts that the VM is eligible for. This does not change while a plan is
   * computed.
   */
  hostsOf(vm: number): BitSet {
    const number = this.classOf[vm]!;
    return (this.#hostSets[number] ??= this.#find(this.classes[number]!));
  }

  #find({ srs, networks, hostAffinities }: EligibilityClass): BitSet {
    const none = new BitSet(this.#hosts.length);
    const found = BitSet.full(this.#hosts.length);
    for (const sr of srs) found.intersect(this.#withSr.get(sr) ?? none);
    for (const network of networks)
      found.intersect(this.#withNetwork.get(network) ?? none);
    for (const hostAffinity of hostAffinities) {
      const { hosts, isOnly } = this.#hostAffinities[hostAffinity]!;
      const set = new BitSet(this.#hosts.length);
      for (const host of hosts) set.add(host);
      if (isOnly) found.intersect(set);
      else found.subtract(set);
    }
    return found;
  }

  #parts(): EligibilityParts {
    return {
      classes: this.classes,
      classOf: this.classOf,
      hosts: this.#hosts,
      hostAffinities: this.#hostAffinities,
      numbers: this.#numbers,
    };
  }
}

interface EligibilityParts {
  readonly classes: readonly EligibilityClass[];
  readonly classOf: Int32Array;
  readonly hosts: readonly HostModel[];
  readonly hostAffinities: readonly IndexedHostAffinity[];
  readonly numbers: Map<string, number>;
}

/** A host affinity by the numbers of its hosts. */
export interface IndexedHostAffinity extends Pick<HostAffinityModel, "score"> {
  readonly hosts: ReadonlySet<number>;
  /**
   * True: only these hosts are allowed. False: these hosts are excluded. No
   * meaning for a finite score.
   */
  readonly isOnly: boolean;
}

function toClass(
  vm: VmModel,
  hostAffinities: readonly number[],
): EligibilityClass {
  return {
    srs: sorted(vm.srs),
    networks: sorted(vm.networks),
    hostAffinities,
  };
}

function sorted(ids: readonly string[]): readonly string[] {
  return ids.length < 2 ? ids : [...new Set(ids)].sort();
}

function classNumberOf(
  found: EligibilityClass,
  classes: EligibilityClass[],
  numbers: Map<string, number>,
): number {
  const { srs, networks, hostAffinities } = found;
  const key = `${srs.join("\0")}\n${networks.join("\0")}\n${hostAffinities.join()}`;
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, classes.length);
  return classes.push(found) - 1;
}

function hostsByItem(
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
