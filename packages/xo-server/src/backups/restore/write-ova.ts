import { datamodel } from "@xo-server/model";
import type { PlannedVif, RestorePlanDisk, VmPlan } from "./restore-plan.js";
import { emptyValue, structOf, toXmlValue } from "./xapi-value.js";

type Fields = Readonly<Record<string, unknown>>;

interface Ova {
  /** Text of the file ova.xml. */
  readonly text: string;
  /** Ids of the disks in the text, by their names in the backup. */
  readonly folders: ReadonlyMap<string, string>;
}

/** XAPI refuses files of newer versions than its own, so an old one is written. */
const VERSION: Fields = {
  hostname: "localhost",
  date: "2026-01-01",
  product_version: "",
  product_brand: "xo-server",
  build_number: "",
  xapi_major: "1",
  xapi_minor: "0",
  // Format version with checksums.
  export_vsn: "2",
};

/**
 * ova.xml of an XVA: the records of a VM and of what belongs to it, which name one another by ids
 * such as `Ref:3` (xen-api, ocaml/xapi/export.ml). The VM is that which a restore creates.
 */
export function writeOva(plan: VmPlan): Ova {
  const objects = new OvaObjects();
  const vm = objects.nextId();
  const sr = objects.add("SR", { name_label: "Backup" });
  const folders = new Map<string, string>();
  const vbds = plan.disks.map((disk) => {
    const vdi = objects.add("VDI", { ...vdiOf(disk), SR: sr });
    folders.set(disk.name, vdi);
    return objects.add("VBD", { ...vbdOf(disk), VM: vm, VDI: vdi });
  });
  const drives = plan.cdDrives.map((userdevice) =>
    objects.add("VBD", { ...CD_DRIVE, userdevice, VM: vm }),
  );
  const networks = new Map<string, string>();
  const vifs = plan.vifs.map(({ network, record, mac }: PlannedVif) => {
    const id =
      networks.get(network.uuid) ?? objects.add("network", { ...network });
    networks.set(network.uuid, id);
    const vif = { ...record, ...UNPLUGGED, metrics: undefined, MAC: mac };
    return objects.add("VIF", { ...vif, network: id, VM: vm });
  });
  const vtpms = plan.vtpms.map((contents) => objects.addVtpm(vm, contents));
  objects.put(vm, "VM", {
    ...plan.vm,
    uuid: plan.uuid,
    bios_strings: plan.biosStrings,
    power_state: "Halted",
    VBDs: [...vbds, ...drives],
    VIFs: vifs,
    VTPMs: vtpms,
  });
  return { text: objects.text(), folders };
}

const UNPLUGGED: Fields = {
  currently_attached: false,
  current_operations: {},
  allowed_operations: [],
};

const CD_DRIVE: Fields = {
  type: "CD",
  mode: "RO",
  empty: true,
  unpluggable: true,
};

function vdiOf({ name, size, label, description }: RestorePlanDisk): Fields {
  return {
    uuid: name,
    location: name,
    name_label: label,
    name_description: description,
    virtual_size: size,
    type: "user",
    managed: true,
  };
}

function vbdOf({ userdevice, bootable, mode }: RestorePlanDisk): Fields {
  return { type: "Disk", userdevice, bootable, mode, unpluggable: true };
}

/** Objects in the order of their ids. */
class OvaObjects {
  readonly #objects = new Map<string, string>();
  /** Ids have equal lengths, because XAPI reads disks in the alphabetical order of their ids. */
  #next = 1000;

  nextId(): string {
    return `Ref:${this.#next++}`;
  }

  add(className: string, record: Fields): string {
    const id = this.nextId();
    this.put(id, className, record);
    return id;
  }

  /** Fields that the record lacks, or that are undefined, have their defaults. */
  put(id: string, className: string, record: Fields): void {
    const { fields } = datamodel.classes[className]!;
    const members = Object.entries(fields).map(([name, field]) => {
      const { type, default: byDefault = emptyValue(type) } = field;
      return [name, toXmlValue(type, record[name] ?? byDefault)] as const;
    });
    this.#put(id, className, structOf(members));
  }

  /** Not a record of the class, but one of exports only (importexport.ml). @param contents base64 */
  addVtpm(vm: string, contents: string): string {
    const id = this.nextId();
    const snapshot = structOf([
      ["vTPM'_VM", toXmlValue("VM ref", vm)],
      ["vTPM'_is_unique", toXmlValue("bool", false)],
      ["vTPM'_is_protected", toXmlValue("bool", false)],
      ["vTPM'_content", toXmlValue("string", contents)],
    ]);
    this.#put(id, "VTPM", snapshot);
    return id;
  }

  text(): string {
    const objects = `<array><data>${[...this.#objects.values()].join("")}</data></array>`;
    return `<value>${structOf([
      ["version", toXmlValue("(string -> string) map", VERSION)],
      ["objects", `<value>${objects}</value>`],
    ])}</value>`;
  }

  #put(id: string, className: string, snapshot: string): void {
    const object = structOf([
      ["class", toXmlValue("string", className)],
      ["id", toXmlValue("string", id)],
      ["snapshot", `<value>${snapshot}</value>`],
    ]);
    this.#objects.set(id, `<value>${object}</value>`);
  }
}
