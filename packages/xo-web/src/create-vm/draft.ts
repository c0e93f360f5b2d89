import type { ObjectRow } from "../api/object-row.js";
import type { Vm } from "../objects/vm.js";

/** A template, with what it says of VMs made from it. */
export type Template = Vm & {
  readonly isDefaultTemplate?: boolean;
  readonly template_info?: {
    readonly disks: readonly {
      readonly device?: string;
      readonly size?: number;
      readonly SR?: string;
      readonly bootable?: boolean;
    }[];
    readonly install_methods?: readonly string[];
  };
  readonly boot?: Readonly<Record<string, string>>;
  readonly coresPerSocket?: number;
  readonly secureBoot?: boolean;
};

export interface DiskDraft {
  readonly key: string;
  /** Of the template's disk; undefined: one more. */
  readonly position?: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The least: a disk of the template does not shrink. */
  readonly least: number;
  /** ""; the template's, or the pool's default. */
  readonly sr: string;
}

export interface VifDraft {
  readonly key: string;
  readonly network: string;
  /** "": the pool makes one. */
  readonly mac: string;
}

export type BootFrom = "template" | "iso" | "network";

/** The form, as it is kept over a reload. Bytes. */
export interface Draft {
  readonly template: string;
  readonly pool: string;
  readonly name: string;
  readonly description: string;
  readonly tags: string;
  readonly count: number;
  readonly firstIndex: number;
  readonly cpus: number;
  /** 0: each vCPU is a socket of its own. */
  readonly coresPerSocket: number;
  readonly memory: number;
  readonly boot: BootFrom;
  readonly iso: string;
  readonly disks: readonly DiskDraft[];
  readonly vifs: readonly VifDraft[];
  readonly cloudConfig: string;
  readonly networkConfig: string;
  readonly dropsConfig: boolean;
  readonly host: string;
  readonly ha: "" | "best-effort" | "restart";
  readonly autoPowerOn: boolean;
  readonly vtpm: boolean;
  readonly secureBoot: boolean;
  readonly starts: boolean;
  readonly fullCopy: boolean;
  readonly resourceSet: string;
}

export const emptyDraft: Draft = {
  template: "",
  pool: "",
  name: "",
  description: "",
  tags: "",
  count: 1,
  firstIndex: 1,
  cpus: 1,
  coresPerSocket: 0,
  memory: 2 ** 31,
  boot: "template",
  iso: "",
  disks: [],
  vifs: [],
  cloudConfig: "",
  networkConfig: "",
  dropsConfig: false,
  host: "",
  ha: "",
  autoPowerOn: false,
  vtpm: false,
  secureBoot: false,
  starts: true,
  fullCopy: false,
  resourceSet: "",
};

/** Disks and interfaces that a template has of its own. */
export interface TemplateParts {
  readonly vbds: readonly {
    readonly position: string;
    readonly VDI?: string;
  }[];
  readonly vdis: readonly (ObjectRow & {
    readonly size?: number;
    readonly $SR?: string;
  })[];
  readonly vifs: readonly { readonly $network?: string }[];
  /** Networks that new VMs get an interface to, or another to begin with. */
  readonly network: string | undefined;
}

/** The form for a template; what was written for another and does not hang on it stays. */
export function draftFor(
  template: Template,
  parts: TemplateParts,
  before: Draft = emptyDraft,
): Draft {
  const canInstall =
    template.isDefaultTemplate === true && parts.vbds.length === 0;
  return {
    ...before,
    template: template.id,
    pool: template.$pool ?? "",
    cpus: template.CPUs.number ?? 1,
    coresPerSocket: template.coresPerSocket ?? 0,
    memory: template.memory.dynamic[1] || template.memory.size,
    boot: canInstall ? "iso" : "template",
    iso: "",
    disks: disksOf(template, parts),
    vifs: vifsOf(parts),
    host: "",
    secureBoot: template.secureBoot === true,
  };
}

function disksOf(
  template: Template,
  { vbds, vdis }: TemplateParts,
): readonly DiskDraft[] {
  const own = vbds.flatMap(({ position, VDI }) => {
    const vdi = vdis.find(({ id }) => id === VDI);
    if (vdi === undefined) return [];
    const { size = 0, $SR: sr = "", name_label: name = "" } = vdi;
    return [{ key: position, position, name, size, least: size, sr }];
  });
  const told = (template.template_info?.disks ?? []).map((disk, i) => {
    const { device: position = String(i), size = 0, SR: sr = "" } = disk;
    return { key: position, position, name: "", size, least: 2 ** 20, sr };
  });
  return own.length > 0 ? own : told;
}

function vifsOf({ vifs, network }: TemplateParts): readonly VifDraft[] {
  const own = vifs.flatMap(({ $network }) =>
    $network === undefined ? [] : [$network],
  );
  const networks = own.length > 0 || network === undefined ? own : [network];
  return networks.map((network, i) => ({ key: `v${i}`, network, mac: "" }));
}

/** `web-{index:02}` and `web-1`: what VMs will be called, the first few. */
export function namesOf(
  { name, count, firstIndex }: Draft,
  most = 3,
): readonly string[] {
  if (count === 1) return [name];
  const pattern = /\{index(:\d+)?\}/;
  const full = pattern.test(name) ? name : `${name} {index}`;
  return Array.from({ length: Math.min(count, most) }, (_, i) =>
    full.replace(/\{index(?::(\d+))?\}/g, (_, width: string | undefined) =>
      String(firstIndex + i).padStart(Number(width ?? 1), "0"),
    ),
  );
}
