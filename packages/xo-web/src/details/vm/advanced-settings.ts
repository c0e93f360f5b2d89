import type { Json } from "@xo-server/kit";
import type { Messages } from "../../locale/messages.js";
import type { TextMap } from "../../api/object-row.js";
import type { Vm } from "../../objects/vm.js";
import { haChoices } from "./ha-choices.js";

type SettingId = keyof Messages["vm"]["settings"];

interface SettingBase {
  /** Key of its name and description. */
  readonly id: SettingId;
  /** Can be changed only while the VM is halted. */
  readonly isForHalted?: boolean;
}

/** A setting of a VM, and the parameters of `vm.set` that change it. */
export type Setting = SettingBase &
  (
    | {
        readonly kind: "switch";
        readonly value: boolean;
        readonly fields: (value: boolean) => Record<string, Json>;
      }
    | {
        readonly kind: "number";
        readonly value: number | undefined;
        readonly fields: (value: number) => Record<string, Json>;
        readonly min?: number;
        readonly max?: number;
        readonly unit?: string;
        /** Value of one unit, such as 2**30 bytes of one GiB. */
        readonly factor?: number;
        readonly step?: number;
      }
    | {
        readonly kind: "choice";
        readonly value: string;
        readonly fields: (value: string) => Record<string, Json>;
        readonly choices: readonly {
          readonly value: string;
          readonly label: string;
        }[];
      }
    | {
        readonly kind: "text";
        readonly value: string;
        readonly fields: (value: string) => Record<string, Json>;
        /** Pattern of valid texts. */
        readonly pattern?: RegExp;
      }
    /** Id of an object of the pool; empty: none. */
    | {
        readonly kind: "object";
        readonly type: "host" | "SR";
        readonly value: string;
        readonly fields: (value: string) => Record<string, Json>;
      }
  );

interface SettingGroup {
  readonly id: keyof Messages["vm"]["settingGroups"];
  readonly settings: readonly Setting[];
}

const GIB = 2 ** 30;

/** The settings of the advanced tab, by group. */
export function advancedSettings(vm: Vm, text: Messages): SettingGroup[] {
  const isVm = vm.type === "VM";
  return [
    { id: "start", settings: startSettings(vm, text) },
    ...(isVm ? [{ id: "mistakes", settings: blockSettings(vm) } as const] : []),
    { id: "cpu", settings: cpuSettings(vm) },
    { id: "memory", settings: memorySettings(vm) },
    { id: "machine", settings: machineSettings(vm, text) },
  ];
}

function startSettings(vm: Vm, text: Messages): Setting[] {
  return [
    {
      id: "autoPowerOn",
      kind: "switch",
      value: vm.auto_poweron,
      fields: (on: boolean) => ({ auto_poweron: on }),
    },
    {
      id: "ha",
      kind: "choice",
      value: vm.high_availability,
      choices: haChoices(text),
      fields: (value: string) => ({ high_availability: value }),
    },
    {
      id: "startDelay",
      kind: "number",
      unit: "s",
      value: numberOf(vm["startDelay"]),
      fields: (seconds: number) => ({ startDelay: seconds }),
    },
    {
      id: "affinity",
      kind: "object",
      type: "host",
      value: vm.affinityHost ?? "",
      fields: (id: string) => ({ affinityHost: id === "" ? null : id }),
    },
    {
      id: "suspendSr",
      kind: "object",
      type: "SR",
      value: textOf(vm["suspendSr"]),
      fields: (id: string) => ({ suspendSr: id === "" ? null : id }),
    },
  ];
}

/** Operations that XAPI refuses while they are blocked. */
const blocks = [
  ["blockDelete", ["destroy"]],
  ["blockShutdown", ["clean_shutdown", "hard_shutdown", "shutdown"]],
  ["blockReboot", ["clean_reboot", "hard_reboot"]],
  ["blockMigrate", ["pool_migrate", "migrate_send"]],
] as const;

function blockSettings(vm: Vm): Setting[] {
  return blocks.map(([id, operations]) => ({
    id,
    kind: "switch",
    value: operations.every((one) => Object.hasOwn(vm.blockedOperations, one)),
    fields: (on: boolean) => ({
      blockedOperations: Object.fromEntries(
        operations.map((one) => [one, on ? true : null]),
      ),
    }),
  }));
}

function cpuSettings(vm: Vm): Setting[] {
  const mask = vm["cpuMask"];
  return [
    {
      id: "cpusMax",
      kind: "number",
      min: 1,
      isForHalted: true,
      value: vm.CPUs.max,
      fields: (max: number) => ({ cpusMax: max }),
    },
    {
      id: "coresPerSocket",
      kind: "number",
      isForHalted: true,
      value: numberOf(vm["coresPerSocket"]) ?? 0,
      fields: (n: number) => ({ coresPerSocket: n === 0 ? null : n }),
    },
    {
      id: "cpuWeight",
      kind: "number",
      max: 65_535,
      value: numberOf(vm["cpuWeight"]) ?? 0,
      fields: (n: number) => ({ cpuWeight: n === 0 ? null : n }),
    },
    {
      id: "cpuCap",
      kind: "number",
      max: 65_535,
      unit: "%",
      value: numberOf(vm["cpuCap"]) ?? 0,
      fields: (n: number) => ({ cpuCap: n === 0 ? null : n }),
    },
    {
      id: "cpuMask",
      kind: "text",
      pattern: /^[\d\s,]*$/,
      value: Array.isArray(mask) ? mask.join(", ") : "",
      fields: (cpus: string) => ({ cpuMask: toMask(cpus) }),
    },
    {
      id: "nestedVirt",
      kind: "switch",
      isForHalted: true,
      value: vm["isNestedVirtEnabled"] === true || vm["expNestedHvm"] === true,
      fields: (on: boolean) => ({ nestedVirt: on, expNestedHvm: on }),
    },
  ];
}

/** `0, 2` is [0, 2]. */
function toMask(cpus: string): number[] {
  return cpus
    .split(/[\s,]+/)
    .filter((cpu) => cpu !== "")
    .map(Number);
}

function memorySettings(vm: Vm): Setting[] {
  const gib = {
    kind: "number",
    unit: "GiB",
    factor: GIB,
    step: 0.001,
  } as const;
  const [least, most] = vm.memory.dynamic;
  return [
    {
      ...gib,
      id: "memoryMin",
      value: least,
      fields: (bytes: number) => ({ memoryMin: bytes }),
    },
    {
      ...gib,
      id: "memoryMax",
      value: most,
      fields: (bytes: number) => ({ memoryMax: bytes }),
    },
    {
      ...gib,
      id: "memoryStaticMax",
      isForHalted: true,
      value: vm.memory.static[1],
      fields: (bytes: number) => ({ memoryStaticMax: bytes }),
    },
  ];
}

function machineSettings(vm: Vm, text: Messages): Setting[] {
  const isHvm = vm.virtualizationMode === "hvm";
  const boot = vm["boot"] as TextMap | undefined;
  const firmware: Setting[] = [
    {
      id: "firmware",
      kind: "choice",
      isForHalted: true,
      value: boot?.["firmware"] ?? "bios",
      choices: [
        { value: "bios", label: "BIOS" },
        { value: "uefi", label: "UEFI" },
      ],
      fields: (value: string) => ({ hvmBootFirmware: value }),
    },
    {
      id: "secureBoot",
      kind: "switch",
      isForHalted: true,
      value: vm["secureBoot"] === true,
      fields: (on: boolean) => ({ secureBoot: on }),
    },
    {
      id: "vga",
      kind: "choice",
      isForHalted: true,
      value: textOf(vm["vga"]),
      choices: [
        { value: "cirrus", label: "Cirrus" },
        { value: "std", label: "VGA" },
      ],
      fields: (value: string) => ({ vga: value }),
    },
    {
      id: "videoram",
      kind: "number",
      unit: "MiB",
      isForHalted: true,
      min: 1,
      max: 16,
      value: numberOf(vm["videoram"]),
      fields: (n: number) => ({ videoram: n }),
    },
  ];
  return [
    ...(isHvm ? firmware : []),
    {
      id: "nicType",
      kind: "choice",
      isForHalted: true,
      value: textOf(vm["nicType"]),
      choices: [
        { value: "", label: text.vm.usual },
        { value: "rtl8139", label: "Realtek RTL8139" },
        { value: "e1000", label: "Intel e1000" },
      ],
      fields: (value: string) => ({ nicType: value === "" ? null : value }),
    },
    {
      id: "viridian",
      kind: "switch",
      isForHalted: true,
      value: vm["viridian"] === true,
      fields: (on: boolean) => ({ viridian: on }),
    },
    {
      id: "vendorDevice",
      kind: "switch",
      isForHalted: true,
      value: vm["hasVendorDevice"] === true,
      fields: (on: boolean) => ({ hasVendorDevice: on }),
    },
  ];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
