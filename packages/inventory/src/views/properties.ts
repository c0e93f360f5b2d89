import { views } from "./views.js";

/** Properties that the catalog adds to every object. */
export const commonProperties: readonly string[] = [
  "id",
  "type",
  "uuid",
  "$pool",
  "$poolId",
  "_xapiRef",
];

/**
 * Properties that `build` of each view can set, by XAPI class. A test compares
 * them with the objects that the views build.
 */
const byClass: Readonly<Record<string, string>> = {
  Bond: `master mode`,
  PGPU: `
    $host allocation currentlyAttached device dom0Access
    enabledVgpuTypes experimental framebufferSize gpuGroup gpuGroups
    gpuTypes isSystemDisplayDevice maxHeads maxResolutionX
    maxResolutionY modelName name_description name_label otherConfig
    pci pgpus resident_on supportedVgpuMaxCapacities
    supportedVgpuTypes vendorName vgpuType vgpus vm
  `,
  VGPU: `
    $host allocation currentlyAttached device dom0Access
    enabledVgpuTypes experimental framebufferSize gpuGroup gpuGroups
    gpuTypes isSystemDisplayDevice maxHeads maxResolutionX
    maxResolutionY modelName name_description name_label otherConfig
    pci pgpus resident_on supportedVgpuMaxCapacities
    supportedVgpuTypes vendorName vgpuType vgpus vm
  `,
  GPU_group: `
    $host allocation currentlyAttached device dom0Access
    enabledVgpuTypes experimental framebufferSize gpuGroup gpuGroups
    gpuTypes isSystemDisplayDevice maxHeads maxResolutionX
    maxResolutionY modelName name_description name_label otherConfig
    pci pgpus resident_on supportedVgpuMaxCapacities
    supportedVgpuTypes vendorName vgpuType vgpus vm
  `,
  VGPU_type: `
    $host allocation currentlyAttached device dom0Access
    enabledVgpuTypes experimental framebufferSize gpuGroup gpuGroups
    gpuTypes isSystemDisplayDevice maxHeads maxResolutionX
    maxResolutionY modelName name_description name_label otherConfig
    pci pgpus resident_on supportedVgpuMaxCapacities
    supportedVgpuTypes vendorName vgpuType vgpus vm
  `,
  host: `
    $PBDs $PCIs $PGPUs $PIFs CPUs PCIs PGPUs PIFs address
    agentStartTime bios_strings build certificates chipset_info
    controlDomain cpus current_operations enabled hostname hvmCapable
    iscsiIqn license_expiry license_params license_server logging
    memory multipathing name_description name_label otherConfig
    patches pendingGuidances powerOnMode power_state productBrand rebootRequired
    residentVms startTime supplementalPacks tags version zstdSupported
  `,
  message: `$object body name time`,
  network: `
    MTU PIFs VIFs automatic bridge current_operations defaultIsLocked
    insecureNbd isBonded name_description name_label nbd other_config
    tags trafficRules
  `,
  host_patch: `
    $host $host_patches applied description guidance name pool_patch
    size time
  `,
  pool_patch: `
    $host $host_patches applied description guidance name pool_patch
    size time
  `,
  PBD: `SR attached device_config host otherConfig`,
  PCI: `$host class_name device_name pci_id`,
  PIF: `
    $host $network attached bondMaster bondSlaves carrier device
    deviceName disallowUnplug dns gateway ip ipv6 ipv6Mode
    isBondMaster isBondSlave mac management mode mtu netmask physical
    primaryAddressType speed vlan
  `,
  pool: `
    HA_enabled auto_poweron cpus crashDumpSr current_operations
    default_SR haRebootVmOnInternalShutdown haSrs master
    migrationCompression name_description name_label otherConfig
    platform_version suspendSr tags vtpmSupported zstdSupported
  `,
  SM: `
    SM_type configuration driver_filename features name_description
    name_label required_cluster_stack supported_image_formats vendor
  `,
  SR: `
    $PBDs $container SR_type VDIs allocationStrategy content_type
    current_operations inMaintenanceMode name_description name_label
    other_config physical_usage shared size sm_config tags usage
  `,
  task: `
    $host allowedOperations applies_to created current_operations
    finished name_description name_label progress result status
    xapiRef
  `,
  PUSB: `
    PUSB VUSB currentlyAttached description host name_description
    name_label otherConfig passthroughEnabled usbGroup vm
  `,
  VUSB: `
    PUSB VUSB currentlyAttached description host name_description
    name_label otherConfig passthroughEnabled usbGroup vm
  `,
  USB_group: `
    PUSB VUSB currentlyAttached description host name_description
    name_label otherConfig passthroughEnabled usbGroup vm
  `,
  VBD: `VDI VM attached bootable device is_cd_drive position read_only`,
  VDI: `
    $SR $VBDs $snapshot_of VDI_type cbt_enabled chainPhysicalUsage
    current_operations image_format missing name_description
    name_label other_config parent size snapshot_time snapshots tags
    usage
  `,
  VIF: `
    $VM $network MAC MTU allowedIpv4Addresses allowedIpv6Addresses
    attached device lockingMode other_config rateLimit trafficRules
    txChecksumming
  `,
  VM: `
    $VBDs $VGPUs $container $snapshot_of CPUs PV_args VGPUs VIFs VTPMs
    addresses affinityHost attachedPcis auto_poweron bios_strings
    blockedOperations boot coresPerSocket cpuCap cpuMask cpuWeight
    creation current_operations docker expNestedHvm folder hasVendorDevice
    high_availability installTime isDefaultTemplate
    isFirmwareSupported isNestedVirtEnabled mainIpAddress
    managementAgentDetected memory name_description name_label
    needsVtpm nicType notes os_version other parent pendingGuidances power_state
    pvDriversDetected pvDriversUpToDate pvDriversVersion resourceSet
    secureBoot snapshot_time snapshots startDelay startTime suspendSr
    suspendVdi tags template_info vga videoram viridian
    virtualizationMode xenStoreData xenTools
  `,
  VTPM: `vm`,
};

const byType = new Map(
  views.flatMap(({ className, types }) =>
    types.map((type) => [
      type,
      new Set([
        ...commonProperties,
        ...(byClass[className] ?? "").trim().split(/\s+/),
      ]),
    ]),
  ),
);

/** Types of objects, of all views. */
export const objectTypes: readonly string[] = [...byType.keys()];

/**
 * Top-level properties that objects of a type can have; undefined for a type
 * without a view. Metrics (`now`) are not among them.
 */
export function propertiesOf(type: string): ReadonlySet<string> | undefined {
  return byType.get(type);
}

const all = new Set([...byType.values()].flatMap((names) => [...names]));

/** Whether objects of any type can have this top-level property. */
export function isProperty(name: string): boolean {
  return all.has(name);
}
