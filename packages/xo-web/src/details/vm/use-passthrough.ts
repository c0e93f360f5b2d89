import { computed, type ComputedRef } from "vue";
import type { ObjectRow } from "../../api/object-row.js";
import { useObjects } from "../../live/use-window.js";
import type { Vm } from "../../objects/vm.js";
import type { AttachedDevice, DeviceChoice } from "./passthrough-actions.js";

type Pci = ObjectRow & {
  readonly class_name: string;
  readonly device_name: string;
  readonly pci_id: string;
  readonly $host?: string;
};
type Pusb = ObjectRow & {
  readonly description: string;
  readonly passthroughEnabled: boolean;
  readonly usbGroup?: string;
  readonly host?: string;
};
type Vusb = ObjectRow & { readonly usbGroup?: string; readonly vm?: string };
type Vgpu = ObjectRow & {
  readonly gpuGroup?: string;
  readonly vgpuType?: string;
  readonly vm?: string;
};
type GpuGroup = ObjectRow & { readonly enabledVgpuTypes: readonly string[] };
type VgpuType = ObjectRow & { readonly modelName: string };

interface ListedDevice extends AttachedDevice {
  readonly name: string;
}

interface Passthrough {
  readonly attached: ComputedRef<readonly ListedDevice[]>;
  readonly pcis: ComputedRef<readonly DeviceChoice[]>;
  readonly usbs: ComputedRef<readonly DeviceChoice[]>;
  readonly gpus: ComputedRef<readonly DeviceChoice[]>;
}

/** PCI and USB devices and vGPUs of a VM, and those of its pool that it can have. */
export function usePassthrough(vm: () => Vm): Passthrough {
  const ofPool = <T>(type: string) =>
    useObjects<T>(() => ({ type, filter: `$pool:${vm().$pool ?? ""}` })).rows;
  const pcis = ofPool<Pci>("PCI");
  const pusbs = ofPool<Pusb>("PUSB");
  const vusbs = ofPool<Vusb>("VUSB");
  const vgpus = ofPool<Vgpu>("vgpu");
  const groups = ofPool<GpuGroup>("gpuGroup");
  const types = ofPool<VgpuType>("vgpuType");
  const hosts = ofPool<ObjectRow>("host");
  const hostNames = computed(
    () => new Map(hosts.value.map((one) => [one.id, one.name_label ?? one.id])),
  );
  const withHost = (name: string, host: string | undefined) =>
    host === undefined
      ? name
      : `${name} (${hostNames.value.get(host) ?? host})`;
  const typeName = (id: string | undefined) =>
    types.value.find((one) => one.id === id)?.modelName ?? "";
  const groupName = (id: string | undefined) =>
    groups.value.find((one) => one.id === id)?.name_label ?? "";
  const usbName = (group: string | undefined) =>
    pusbs.value.find((one) => one.usbGroup === group)?.description ?? "USB";
  const addresses = computed(() => {
    const listed = vm()["attachedPcis"];
    return Array.isArray(listed) ? listed.map(String) : [];
  });
  return {
    attached: computed(() => [
      ...addresses.value.map((id) => ({
        kind: "pci" as const,
        id,
        name: `${id} ${nameOfPci(pcis.value, id, vm())}`,
      })),
      ...vusbs.value
        .filter((one) => one.vm === vm().id)
        .map(({ id, usbGroup }) => ({
          kind: "usb" as const,
          id,
          name: usbName(usbGroup),
        })),
      ...vgpus.value
        .filter((one) => one.vm === vm().id)
        .map(({ id, gpuGroup, vgpuType }) => ({
          kind: "gpu" as const,
          id,
          name: `${groupName(gpuGroup)}: ${typeName(vgpuType)}`,
        })),
    ]),
    pcis: computed(() =>
      pcis.value
        .filter(({ pci_id }) => !addresses.value.includes(pci_id))
        .map(({ id, pci_id, device_name, class_name, $host }) => ({
          id,
          label: withHost(`${pci_id} ${device_name || class_name}`, $host),
        })),
    ),
    usbs: computed(() =>
      pusbs.value.flatMap(
        ({ usbGroup, description, passthroughEnabled, host }) =>
          usbGroup === undefined ||
          !passthroughEnabled ||
          vusbs.value.some((one) => one.usbGroup === usbGroup)
            ? []
            : [{ id: usbGroup, label: withHost(description, host) }],
      ),
    ),
    gpus: computed(() =>
      groups.value.flatMap(({ id, name_label, enabledVgpuTypes }) =>
        enabledVgpuTypes.map((type) => ({
          id: `${id}/${type}`,
          label: `${name_label ?? id}: ${typeName(type)}`,
        })),
      ),
    ),
  };
}

/** Hosts have devices at the same addresses: that of the VM's host comes first. */
function nameOfPci(pcis: readonly Pci[], address: string, vm: Vm): string {
  const same = pcis.filter(({ pci_id }) => pci_id === address);
  const own = same.find(({ $host }) => $host === vm["$container"]) ?? same[0];
  return own?.device_name ?? "";
}
