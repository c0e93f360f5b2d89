import { XapiError, XoError } from "@xo-server/model";
import type { HostFigures, PoolModel } from "@xo-server/placement";
import type { PoolObservation } from "../../src/balancer/pool-observation.js";
import type {
  PoolObject,
  PoolObjects,
} from "../../src/objects/pool-objects.js";
import type { FakeClock } from "../fake-clock.js";

const GIB = 2 ** 30;

export interface SmallHost {
  isUp: boolean;
  isEnabled: boolean;
  operations: string[];
  /** Undefined: it always reports its metrics. */
  measuredAt: number | undefined;
}

export interface SmallVm {
  host: string;
  load: number;
  gib: number;
  tags: string[];
  operations: string[];
  isRunning: boolean;
}

/** Hosts of 8 cores and 64 GiB, and VMs that move when XAPI is asked to. */
export class SmallPool {
  readonly hosts = new Map<string, SmallHost>();
  readonly vms = new Map<string, SmallVm>();
  isConnected = true;
  rollingSince: number | undefined;
  /** VMs that XAPI does not want to move. */
  readonly stubborn = new Set<string>();
  /** Moves go on until the test ends them. */
  isSlow = false;
  /** Ends moves that go on. */
  readonly going: (() => void)[] = [];
  /** Every move that XAPI was asked for. */
  readonly asked: (readonly [vm: string, to: string])[] = [];
  /** The most at a time. */
  maxRunning = 0;
  /** Called as each move begins. */
  onMove: (vm: string) => void = () => undefined;
  readonly #clock: FakeClock;
  #waiters: (() => void)[] = [];

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  addHosts(...ids: readonly string[]): void {
    for (const id of ids)
      this.hosts.set(id, {
        isUp: true,
        isEnabled: true,
        operations: [],
        measuredAt: undefined,
      });
  }

  addVm(id: string, host: string, more: Partial<SmallVm> = {}): void {
    this.vms.set(id, {
      host,
      load: 1,
      gib: 1,
      tags: [],
      operations: [],
      isRunning: true,
      ...more,
    });
  }

  hostOf(vm: string): string {
    return this.vms.get(vm)!.host;
  }

  /** Resolves while a move waits for the test. */
  async isWaiting(): Promise<void> {
    if (this.going.length === 0)
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    // What comes before the moves' waiting is written down meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  endMoves(): void {
    for (const end of this.going.splice(0)) end();
  }

  observation(excludedTags: readonly string[]): PoolObservation {
    const vms = [...this.vms];
    const ids = (found: typeof vms) => found.map(([id]) => id);
    const { isConnected, rollingSince } = this;
    return {
      isConnected,
      ...(rollingSince === undefined ? {} : { rollingSince }),
      hosts: Array.from(this.hosts, ([id, host]) => ({
        id,
        ...host,
        measuredAt: host.measuredAt ?? this.#clock.now(),
        vms: vms.filter(([, vm]) => vm.host === id).length,
      })),
      moving: ids(
        vms.filter(([, { operations }]) => operations.includes("pool_migrate")),
      ),
      staying: ids(
        vms.filter(
          ([, { tags, operations }]) =>
            operations.length > 0 ||
            tags.some((tag) => excludedTags.includes(tag)),
        ),
      ),
    };
  }

  figures(): HostFigures[] {
    return Array.from(this.hosts.keys(), (host) => {
      const on = [...this.vms.values()].filter((vm) => vm.host === host);
      const sum = (key: "load" | "gib") =>
        on.reduce((total, vm) => total + vm[key], 0);
      const [cpu, memory] = [sum("load") / 8, sum("gib") / 64];
      return { host, cpu, memory, vms: on.length };
    });
  }

  model(): PoolModel {
    return {
      hosts: Array.from(this.hosts, ([id, { isUp, isEnabled }]) => ({
        id,
        memory: 64 * GIB,
        cores: 8,
        networks: [],
        srs: [],
        state: !isUp ? "down" : isEnabled ? "up" : "disabled",
      })),
      vms: Array.from(this.vms, ([id, { host, load, gib, isRunning }]) => ({
        id,
        memory: gib * GIB,
        vcpus: 2,
        srs: [],
        networks: [],
        ...(isRunning ? { host, load } : {}),
      })),
    };
  }

  get objects(): PoolObjects {
    const objects = {
      get: (id: string) => this.#object(id),
      idOf: (ref: string) => ref,
      forTask: () => objects,
    } as unknown as PoolObjects;
    return objects;
  }

  #object(id: string): PoolObject {
    const vm = this.vms.get(id);
    if (vm === undefined && !this.hosts.has(id))
      throw new XoError("NO_SUCH_OBJECT", { type: "object", id });
    const object =
      vm === undefined
        ? {
            enabled: this.hosts.get(id)?.isEnabled === true,
            residentVms: [...this.vms.keys()].filter(
              (one) => this.hostOf(one) === id,
            ),
          }
        : {
            power_state: vm.isRunning ? "Running" : "Halted",
            $container: vm.host,
            current_operations: Object.fromEntries(
              vm.operations.map((one, i) => [String(i), one]),
            ),
          };
    const type = vm === undefined ? "host" : "VM";
    const xapi = {
      call: async (method: string) => {
        if (method === "VM.get_power_state") return object.power_state;
        return method === "VM.get_resident_on" ? vm!.host : undefined;
      },
      callAsync: (_: string, [ref, to]: [string, string]) =>
        this.#move(ref, to),
    };
    return { id, type, ref: id, object, xapi } as unknown as PoolObject;
  }

  async #move(id: string, to: string): Promise<void> {
    this.asked.push([id, to]);
    this.onMove(id);
    if (this.stubborn.has(id)) throw new XapiError("VM_LACKS_FEATURE", [id]);
    if (this.isSlow) {
      const ended = new Promise<void>((resolve) => this.going.push(resolve));
      this.maxRunning = Math.max(this.maxRunning, this.going.length);
      for (const wake of this.#waiters.splice(0)) wake();
      await ended;
    }
    this.vms.get(id)!.host = to;
  }
}
