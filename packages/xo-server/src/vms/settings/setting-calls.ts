import { SET_KEY } from "../limits/resource-sets.js";
import { NULL_REF, XoError, type Ref } from "@xo-server/model";
import type { VmSettings } from "../parameters/vm-parameters.js";
import { toBytes } from "../parameters/byte-size.js";
import { toMemoryCalls, toMemoryLimits } from "../parameters/memory-limits.js";
import { isRunning, type VmRecord } from "../xapi-records.js";

/** A message of XAPI's class VM without its first parameter, the VM. */
export type Call = readonly [message: string, ...params: unknown[]];

/** Returns the reference of an object that settings name by its id. */
export type RefOf = (type: "host" | "SR", id: string) => Ref;

/** Settings; of a new VM also the time, the user and the template of the creation. */
export type SettingsInput = Omit<VmSettings, "creation"> & {
  readonly creation?: object;
};

/** The XAPI calls that apply the settings to a VM, in an order that XAPI accepts. */
export function toSettingCalls(
  input: SettingsInput,
  vm: VmRecord,
  refOf: RefOf,
): Call[] {
  return [
    ...fieldCalls(input, refOf),
    ...mapCalls(input, vm),
    ...cpuCalls(input, vm),
    ...memoryCalls(input, vm),
  ];
}

function fieldCalls(input: SettingsInput, refOf: RefOf): Call[] {
  const { affinityHost, suspendSr } = input;
  const fields: readonly (readonly [string, unknown])[] = [
    ["name_label", input.name_label],
    ["name_description", input.name_description],
    ["tags", input.tags],
    ["ha_restart_priority", input.high_availability],
    ["start_delay", input.startDelay?.toString()],
    ["PV_args", input.PV_args],
    ["has_vendor_device", input.hasVendorDevice],
    ["domain_type", input.virtualizationMode],
    ["uefi_mode", input.uefiMode],
    ["affinity", toRef(affinityHost, (id) => refOf("host", id))],
    ["suspend_SR", toRef(suspendSr, (id) => refOf("SR", id))],
  ];
  return fields
    .filter(([, value]) => value !== undefined)
    .map(([field, value]): Call => [`set_${field}`, value]);
}

function toRef(
  id: string | null | undefined,
  refOf: (id: string) => Ref,
): Ref | undefined {
  return id === undefined ? undefined : id === null ? NULL_REF : refOf(id);
}

type Entries = Readonly<
  Record<string, string | number | boolean | null | undefined>
>;

function mapCalls(input: SettingsInput, vm: VmRecord): Call[] {
  const { cpuMask, blockedOperations = {} } = input;
  const blocked = Object.entries(blockedOperations).map(([name, reason]) => [
    name,
    reason === false ? null : reason,
  ]);
  return [
    ...entryCalls("platform", {
      "cores-per-socket": orNone(input.coresPerSocket),
      "exp-nested-hvm": input.expNestedHvm,
      "nested-virt": input.nestedVirt,
      secureboot: input.secureBoot,
      viridian: input.viridian,
      vga: input.vga,
      videoram: input.videoram,
      nic_type: orNone(input.nicType),
    }),
    ...entryCalls("HVM_boot_params", {
      firmware: orNone(input.hvmBootFirmware),
    }),
    ...entryCalls("VCPUs_params", {
      cap: input.cpuCap,
      weight: input.cpuWeight,
      mask: cpuMask && orNone(cpuMask.join(",")),
    }),
    ...entryCalls("other_config", toNotes(input, vm)),
    ...entryCalls("xenstore_data", input.xenStoreData ?? {}),
    ...entryCalls(
      "blocked_operations",
      Object.fromEntries(blocked) as Record<string, string | null>,
    ),
  ];
}

/** Converts settings that clients store in the other_config of a VM. */
function toNotes(
  input: SettingsInput,
  { uuid, other_config }: VmRecord,
): Entries {
  const { auto_poweron, resourceSet, creation } = input;
  const own = creationKey(uuid);
  return {
    auto_poweron: auto_poweron === false ? null : auto_poweron,
    "xo:notes": input.notes,
    [SET_KEY]: resourceSet && JSON.stringify(resourceSet),
    ...(resourceSet === null ? { [SET_KEY]: null } : {}),
    ...(creation === undefined
      ? {}
      : { [own]: withCreation(other_config[own], creation) }),
  };
}

/** Key of other_config with the uuid of the VM, so that a copy does not inherit the value. */
function creationKey(uuid: string): string {
  return `xo:${uuid.slice(0, 8)}`;
}

function withCreation(before: string | undefined, added: object): string {
  const stored = readObject(before);
  const creation = { ...readMember(stored, "creation"), ...added };
  return JSON.stringify({ ...stored, creation });
}

function readObject(text = "{}"): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    // Another client has written something else, which is replaced.
    return {};
  }
}

function readMember(value: object, name: string): object {
  const member: unknown = Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
  return typeof member === "object" && member !== null ? member : {};
}

/** Converts an empty value to null. */
function orNone<T>(value: T | "" | 0): T | null {
  return value === "" || value === 0 ? null : value;
}

/** XAPI refuses to add an existing entry, but accepts the removal of a missing one. */
export function entryCalls(field: string, entries: Entries): Call[] {
  return Object.entries(entries).flatMap(([key, value]): Call[] => {
    if (value === undefined) return [];
    const remove: Call = [`remove_from_${field}`, key];
    return value === null
      ? [remove]
      : [remove, [`add_to_${field}`, key, String(value)]];
  });
}

/** Calls that change CPUs, ordered so that VCPUs_at_startup never exceeds VCPUs_max. */
function cpuCalls({ CPUs, cpusMax }: SettingsInput, vm: VmRecord): Call[] {
  const before = Number(vm.VCPUs_max);
  const most = Math.max(Number(cpusMax ?? before), cpusMax ? 0 : (CPUs ?? 0));
  const set =
    CPUs === undefined
      ? []
      : ([
          [
            isRunning(vm) ? "set_VCPUs_number_live" : "set_VCPUs_at_startup",
            String(CPUs),
          ],
        ] satisfies Call[]);
  if (most === before) return set;
  if (isRunning(vm))
    throw notHalted(
      vm,
      `while it runs, it has at most ${before} vCPUs (cpusMax); shut it down to change cpusMax, or use vm.setAndRestart`,
    );
  const setMost: Call = ["set_VCPUs_max", String(most)];
  return most > before ? [setMost, ...set] : [...set, setMost];
}

function memoryCalls(input: SettingsInput, vm: VmRecord): Call[] {
  const { memory, memoryMin, memoryMax = memory, memoryStaticMax } = input;
  const requested = {
    min: sizeOf(memoryMin),
    max: sizeOf(memoryMax),
    staticMax: sizeOf(memoryStaticMax),
  };
  if (Object.values(requested).every((bytes) => bytes === undefined)) return [];
  const now = {
    staticMin: Number(vm.memory_static_min),
    dynamicMin: Number(vm.memory_dynamic_min),
    dynamicMax: Number(vm.memory_dynamic_max),
    staticMax: Number(vm.memory_static_max),
  };
  const next = toMemoryLimits(now, requested, isRunning(vm));
  if (isRunning(vm) && next.staticMax !== now.staticMax)
    throw notHalted(
      vm,
      `while it runs, it has at most ${toGib(now.staticMax)} of memory (memoryStaticMax); shut it down to change memoryStaticMax, or use vm.setAndRestart`,
    );
  return toMemoryCalls(now, next);
}

function toGib(bytes: number): string {
  return `${Number((bytes / 2 ** 30).toPrecision(4))} GiB`;
}

/** XAPI rejects this too, but without naming the limit. */
function notHalted({ uuid, power_state }: VmRecord, reason: string): XoError {
  return new XoError("VM_NOT_HALTED", {
    objectId: uuid,
    expected: "halted",
    actual: power_state.toLowerCase(),
    reason,
  });
}

function sizeOf(size: number | string | undefined): number | undefined {
  return size === undefined ? undefined : toBytes(size);
}
