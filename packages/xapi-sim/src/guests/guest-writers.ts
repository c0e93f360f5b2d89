import type { CallContext } from "../operation.js";
import { reportGrowth } from "../operations/storage/disk-data.js";
import { flag, int, map, refs, text } from "../records/fields.js";
import { XapiFailure } from "../xapi-failure.js";
import {
  writePatterns,
  writesOf,
  type WriteProgram,
} from "./write-programs.js";

/** Of VMs at once, so that what is written stays bounded. */
const WRITERS = 4;
/** Part of a disk that a guest writes to by itself. */
const WORKING_SET = 256 * 2 ** 20;
const TICK_MS = 1000;
/** Bytes that are written before other work has its turn. */
const SLICE = 2 ** 20;

/** What a program has done. */
interface WriteReport {
  /** Reference of the disk. */
  readonly vdi: string;
  readonly bytes: number;
  readonly writes: number;
}

/** Guests that write to their disks: on demand, and by themselves while they run. */
export class GuestWriters {
  readonly #context: CallContext;
  #perSecond = 0;
  #timer: unknown;
  #seed = 0;
  /** VMs that write by themselves. */
  #writers: readonly string[] = [];

  constructor(context: CallContext) {
    this.#context = context;
  }

  get bytesPerSecond(): number {
    return this.#perSecond;
  }

  /**
   * Runs a program on a disk, whether its VM runs or not.
   * @param vdi reference or uuid
   * @throws XapiFailure HANDLE_INVALID; VDI_READONLY for snapshots; VDI_INCOMPATIBLE_TYPE
   */
  async write(vdi: string, program: WriteProgram): Promise<WriteReport> {
    const { db, state } = this.#context;
    const ref = db.byUuid("VDI", vdi) ?? vdi;
    assertProgram(program);
    assertWritable(this.#context, ref);
    const uuid = text(db.get("VDI", ref), "uuid");
    let bytes = 0;
    let writes = 0;
    let slice = 0;
    for (const write of writesOf(program, state.disks.size(uuid))) {
      if (slice >= SLICE) {
        slice = 0;
        await new Promise((resolve) => setImmediate(resolve));
        assertWritable(this.#context, ref);
      }
      state.disks.write(uuid, write.offset, write.bytes);
      bytes += write.bytes.length;
      slice += write.bytes.length;
      writes++;
    }
    reportGrowth(this.#context, ref);
    return { vdi: ref, bytes, writes };
  }

  /** Sets the total rate at which some of the running guests write; 0: none. */
  setRate(bytesPerSecond: number): void {
    if (!(bytesPerSecond >= 0 && bytesPerSecond <= 2 ** 30))
      throw new Error("bytesPerSecond: a number from 0 to 1 GiB");
    this.stop();
    this.#perSecond = bytesPerSecond;
    if (bytesPerSecond > 0) this.#schedule();
  }

  stop(): void {
    this.#context.clock.clearTimeout(this.#timer);
    this.#perSecond = 0;
  }

  #schedule(): void {
    this.#timer = this.#context.clock.setTimeout(() => {
      this.#tick()
        // A disk that went away, or a full file system: the next tick tries again.
        .catch(() => undefined)
        .finally(() => {
          if (this.#perSecond > 0) this.#schedule();
        });
    }, TICK_MS);
  }

  async #tick(): Promise<void> {
    const disks = this.#disks();
    for (const vdi of disks)
      await this.write(vdi, {
        pattern: "filesystem",
        bytes: Math.ceil(this.#perSecond / disks.length),
        seed: ++this.#seed,
        length: WORKING_SET,
      });
  }

  /** One disk of each of the VMs that write, which are others when these do not run. */
  #disks(): readonly string[] {
    const { db } = this.#context;
    const diskOf = (vm: string) => writableDisk(this.#context, vm);
    this.#writers = this.#writers.filter((vm) => diskOf(vm) !== undefined);
    if (this.#writers.length < WRITERS) {
      const found = new Set(this.#writers);
      for (const vm of db.refs("VM")) {
        if (found.size >= WRITERS) break;
        if (diskOf(vm) !== undefined) found.add(vm);
      }
      this.#writers = [...found];
    }
    return this.#writers.map((vm) => diskOf(vm)!);
  }
}

/** The first disk of a VM that runs and is not on its way to another place. */
function writableDisk({ db }: CallContext, vm: string): string | undefined {
  const record = db.find("VM", vm);
  if (record === undefined || text(record, "power_state") !== "Running")
    return undefined;
  if (flag(record, "is_control_domain")) return undefined;
  if (Object.keys(map(record, "current_operations")).length > 0)
    return undefined;
  return refs(record, "VBDs")
    .map((ref) => db.get("VBD", ref))
    .filter((vbd) => text(vbd, "mode") === "RW" && text(vbd, "type") === "Disk")
    .filter((vbd) => flag(vbd, "currently_attached"))
    .map((vbd) => text(vbd, "VDI"))
    .find((ref) => isWritable(db, ref) && hasRoom(db, ref));
}

function hasRoom(db: CallContext["db"], vdi: string): boolean {
  const sr = db.find("SR", text(db.get("VDI", vdi), "SR"));
  return (
    sr !== undefined &&
    int(sr, "physical_utilisation") + WORKING_SET < int(sr, "physical_size")
  );
}

function isWritable(db: CallContext["db"], vdi: string): boolean {
  const record = db.find("VDI", vdi);
  return (
    record !== undefined &&
    !flag(record, "is_a_snapshot") &&
    !flag(record, "read_only") &&
    text(record, "type") !== "cbt_metadata" &&
    Object.keys(map(record, "current_operations")).length === 0
  );
}

function assertWritable({ db }: CallContext, vdi: string): void {
  const record = db.get("VDI", vdi);
  const type = text(record, "type");
  if (type === "cbt_metadata")
    throw new XapiFailure("VDI_INCOMPATIBLE_TYPE", [vdi, type]);
  if (flag(record, "is_a_snapshot") || flag(record, "read_only"))
    throw new XapiFailure("VDI_READONLY", [vdi]);
}

function assertProgram({ pattern, bytes, offset, length }: WriteProgram): void {
  if (!writePatterns.includes(pattern))
    throw new Error(`pattern: one of ${writePatterns.join(", ")}`);
  const isCount = (value: number | undefined) =>
    value === undefined || (Number.isSafeInteger(value) && value >= 0);
  if (![bytes, offset, length].every(isCount) || !(bytes >= 0))
    throw new Error("bytes, offset, length: whole numbers");
}
