import { RepositoryError } from "../errors.js";
import type {
  DiskPart,
  ForeignContent,
  ForeignSource,
  ForeignVm,
} from "../foreign/foreign-vm.js";
import { readFlatDisk } from "./flat-disk.js";
import { disksOf, obstacleOfVm, toForeignVm, toVmwareVm } from "./hardware.js";
import {
  VM_PROPERTIES,
  readVmwareInventory,
  type VmwareNames,
} from "./inventory.js";
import { readObject, type ObjectProperties } from "./property-collector.js";
import { SoapClient, invalid } from "./soap-client.js";
import { isOff, stopVm } from "./stop-vm.js";
import type { VmwareServer, VmwareVm } from "./vmware-server.js";

interface VmwareSourceOptions {
  readonly server: VmwareServer;
  /** Managed object id of the VM. */
  readonly vm: string;
  /** Whether a VM that runs is stopped before its disks are read. */
  readonly stop: boolean;
  readonly signal: AbortSignal;
  /** `done`, `total`: bytes of the disks; `stopped`: 1 when the VM was stopped. */
  readonly onProgress: (figures: Readonly<Record<string, number>>) => void;
}

/** A VM of an ESXi host or a vCenter server that is powered off, or is stopped. */
export class VmwareSource implements ForeignSource {
  readonly vm: ForeignVm;
  readonly #client: SoapClient;
  readonly #object: ObjectProperties;
  readonly #names: VmwareNames;
  readonly #options: VmwareSourceOptions;
  #done = 0;
  #isStopped = false;

  private constructor(
    client: SoapClient,
    object: ObjectProperties,
    context: { names: VmwareNames; options: VmwareSourceOptions },
  ) {
    this.#client = client;
    this.#object = object;
    this.#names = context.names;
    this.#options = context.options;
    this.vm = toForeignVm(object, context.names);
  }

  /** @throws RepositoryError `source-invalid`: the VM cannot be imported; see SoapClient.open */
  static async open(options: VmwareSourceOptions): Promise<VmwareSource> {
    const { server, vm: id, stop, signal } = options;
    const client = await SoapClient.open(server, signal);
    try {
      const reference = { type: "VirtualMachine", id };
      const object = await readObject(client, reference, VM_PROPERTIES);
      const obstacle = obstacleOfVm(object);
      if (obstacle !== undefined) throw invalid(`VM ${id}: ${obstacle}`);
      if (!stop && !(await isOff(client, object)))
        throw invalid(
          `VM ${id} runs: shut it down first, or import it with stopSource, which stops it before its disks are read`,
        );
      const { names } = await readVmwareInventory(client, false);
      return new VmwareSource(client, object, { names, options });
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  async *contents(): AsyncGenerator<ForeignContent, void> {
    const { signal, onProgress } = this.#options;
    if (!(await isOff(this.#client, this.#object))) {
      await stopVm(this.#client, this.#object, signal);
      this.#isStopped = true;
      onProgress({ stopped: 1 });
    }
    const disks = disksOf(this.#object);
    const total = disks.reduce((sum, { size }) => sum + size, 0);
    for (const [i, disk] of disks.entries()) {
      const dataCenter = this.#names.dataCenters.get(disk.datastore);
      if (dataCenter === undefined)
        throw invalid(`the data center of disk ${disk.name} is unknown`);
      const bytes = readFlatDisk(this.#client, { ...disk, dataCenter });
      yield { disk: this.vm.disks[i]!, parts: this.#counted(bytes, total) };
    }
  }

  /** The VM must not have run meanwhile. */
  async verify(): Promise<void> {
    if (await isOff(this.#client, this.#object)) return;
    throw new RepositoryError(
      "source-invalid",
      `vSphere: VM ${this.#object.id} was started while its disks were read`,
    );
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async *#counted(
    parts: AsyncIterable<DiskPart>,
    total: number,
  ): AsyncGenerator<DiskPart, void> {
    for await (const part of parts) {
      yield part;
      this.#done += part.bytes.length;
      this.#options.onProgress({
        done: this.#done,
        total,
        ...(this.#isStopped && { stopped: 1 }),
      });
    }
  }
}

/** The VMs of a server, without templates. @throws RepositoryError */
export async function listVmwareVms(
  server: VmwareServer,
  signal: AbortSignal,
): Promise<VmwareVm[]> {
  const client = await SoapClient.open(server, signal);
  try {
    const { vms, names } = await readVmwareInventory(client, true);
    return vms
      .filter(({ properties }) => properties.has("config.hardware"))
      .map((vm) => toVmwareVm(vm, names))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  } finally {
    await client.close();
  }
}
