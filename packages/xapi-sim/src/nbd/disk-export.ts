import type { Core } from "../calls/core.js";
import type { Extent } from "../disks/extents.js";
import { assertHasData } from "../operations/storage/cbt.js";
import {
  attachToControlDomain,
  detachFromControlDomain,
} from "../operations/storage/control-domain-disks.js";
import { assertPlugged } from "../operations/storage/sr-checks.js";
import { flag, refs, text } from "../records/fields.js";
import { XapiFailure } from "../xapi-failure.js";

/** What the servers need of a pool. */
export type NbdParts = Pick<
  Core,
  "db" | "state" | "clock" | "faults" | "sessions"
>;

/** The name of an export, as `VDI.get_nbd_info` gives it. */
export function exportName(uuid: string, session: string): string {
  return `/${uuid}?session_id=${session}`;
}

/** A disk as a client of NBD sees it. While it is open, the host's domain 0 has it attached. */
export class DiskExport {
  readonly #parts: NbdParts;
  readonly #uuid: string;
  readonly #vbd: string;
  readonly size: number;

  private constructor(parts: NbdParts, vdi: string, vbd: string) {
    this.#parts = parts;
    this.#uuid = text(parts.db.get("VDI", vdi), "uuid");
    this.#vbd = vbd;
    this.size = parts.state.disks.size(this.#uuid);
  }

  /**
   * @param host whose server it is
   * @throws XapiFailure SESSION_INVALID, UUID_INVALID, VDI_IN_USE, VDI_INCOMPATIBLE_TYPE,
   *   SR_HAS_NO_PBDS
   */
  static open(parts: NbdParts, host: string, name: string): DiskExport {
    const vdi = diskOf(parts, name);
    const vbd = attachToControlDomain(parts.db, host, { vdi, mode: "RO" });
    return new DiskExport(parts, vdi, vbd);
  }

  /** Checks the export of a name without attaching its disk. @throws as `open` */
  static check(parts: NbdParts, name: string): { readonly size: number } {
    const vdi = diskOf(parts, name);
    const uuid = text(parts.db.get("VDI", vdi), "uuid");
    return { size: parts.state.disks.size(uuid) };
  }

  read(offset: number, into: Buffer): void {
    this.#parts.state.disks.read(this.#uuid, offset, into);
  }

  extents(offset: number, length: number): readonly Extent[] {
    return this.#parts.state.disks.extents(this.#uuid, { offset, length });
  }

  close(): void {
    detachFromControlDomain(this.#parts.db, this.#vbd);
  }
}

function diskOf({ db, sessions }: NbdParts, name: string): string {
  const [, uuid = "", query = ""] = /^\/?([^?]*)\??(.*)$/s.exec(name) ?? [];
  sessions.use(new URLSearchParams(query).get("session_id") ?? "");
  const vdi = db.byUuid("VDI", uuid);
  if (vdi === undefined) throw new XapiFailure("UUID_INVALID", ["VDI", uuid]);
  assertHasData(db, vdi);
  assertPlugged(db, text(db.get("VDI", vdi), "SR"));
  assertNotWritten(db, vdi);
  return vdi;
}

/** Checks that no VM can write to the disk: such a disk cannot be attached a second time. */
function assertNotWritten(db: Core["db"], vdi: string): void {
  const record = db.get("VDI", vdi);
  const isWritten = refs(record, "VBDs").some((ref) => {
    const vbd = db.get("VBD", ref);
    return flag(vbd, "currently_attached") && text(vbd, "mode") === "RW";
  });
  if (isWritten && !flag(record, "sharable"))
    throw new XapiFailure("VDI_IN_USE", [vdi, "attach"]);
}
