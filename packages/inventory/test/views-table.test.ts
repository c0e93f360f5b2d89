import { datamodel } from "@xo-server/model";
import t from "tap";
import type { XapiRecord } from "../src/store/record-rows.js";
import { viewOf, viewOfType, views } from "../src/views/views.js";
import { buildAll, RecordLinks } from "./fixtures/record-links.js";
import { samplePool, withFields } from "./fixtures/sample-pool.js";

/** Object types that clients of Xen Orchestra know. */
const types = `pool host VM VM-template VM-snapshot VM-controller SR SM VDI
  VDI-snapshot VDI-unmanaged VBD VIF PIF network PBD message task patch
  pool_patch PCI PGPU vgpu gpuGroup vgpuType VTPM PUSB VUSB USB_group bond`;

/**
 * Fields that an object of the sample pool has, by type: of
 * each type, by the first object that has the most. Those that are set only
 * in certain states are tested beside their noun.
 */
const documented: Readonly<Record<string, string>> = {
  pool: `name_label name_description master default_SR HA_enabled haSrs
    auto_poweron cpus tags current_operations migrationCompression
    haRebootVmOnInternalShutdown zstdSupported vtpmSupported platform_version
    otherConfig`,
  host: `name_label name_description hostname address enabled power_state
    memory cpus CPUs version build productBrand residentVms controlDomain
    startTime agentStartTime license_expiry license_params license_server
    logging bios_strings rebootRequired pendingGuidances patches supplementalPacks tags
    otherConfig current_operations iscsiIqn multipathing powerOnMode
    hvmCapable zstdSupported chipset_info certificates PIFs $PIFs PCIs $PCIs
    PGPUs $PGPUs $PBDs`,
  VM: `power_state $container CPUs memory addresses mainIpAddress os_version
    xenTools managementAgentDetected pvDriversDetected pvDriversVersion
    pvDriversUpToDate startTime installTime tags name_label name_description
    snapshots parent VIFs $VBDs VTPMs VGPUs $VGPUs other xenStoreData
    blockedOperations bios_strings boot virtualizationMode high_availability
    auto_poweron startDelay coresPerSocket vga videoram secureBoot viridian
    needsVtpm expNestedHvm isNestedVirtEnabled hasVendorDevice creation
    current_operations isFirmwareSupported pendingGuidances`,
  "VM-controller": "PV_args affinityHost $container",
  "VM-snapshot": "snapshot_time $snapshot_of",
  "VM-template": "isDefaultTemplate template_info",
  SR: `content_type SR_type shared size physical_usage usage VDIs $PBDs
    $container allocationStrategy inMaintenanceMode tags current_operations
    other_config sm_config name_label name_description`,
  VDI: `name_label name_description size usage chainPhysicalUsage VDI_type $SR
    $VBDs snapshots cbt_enabled missing tags current_operations other_config`,
  "VDI-snapshot": "snapshot_time $snapshot_of",
  VBD: `attached bootable device is_cd_drive position read_only VDI VM`,
  VIF: `attached device MAC MTU $network $VM lockingMode allowedIpv4Addresses
    allowedIpv6Addresses txChecksumming other_config`,
  PIF: `device deviceName vlan mac mtu ip ipv6 netmask gateway dns mode
    ipv6Mode primaryAddressType management physical attached carrier speed
    disallowUnplug isBondMaster isBondSlave $host $network`,
  network: `name_label name_description bridge MTU PIFs VIFs tags automatic
    defaultIsLocked nbd insecureNbd isBonded other_config current_operations`,
  PBD: "attached host SR device_config otherConfig",
  message: "name body time $object",
  SM: `SM_type name_label vendor features configuration
    supported_image_formats`,
};

/** The sample pool, and one record of each class that it has none of. */
const everyClass = Object.keys(datamodel.classes).reduce(
  (records, className) =>
    records[className] === undefined
      ? withFields(records, className, 1, {})
      : records,
  samplePool,
);

const words = (text: string) => text.split(/\s+/);

t.test("there is a view for every documented type, and no other", async (t) => {
  const all = views.flatMap((view) => view.types);
  t.same(all.toSorted(), words(types).toSorted());
  t.same(
    views
      .map((view) => view.className)
      .filter((name) => !Object.hasOwn(datamodel.classes, name)),
    [],
    "of classes that XAPI has",
  );
});

t.test("a view is found by its class and by its types", async (t) => {
  for (const view of views) {
    t.equal(viewOf(view.className), view);
    for (const type of view.types) t.equal(viewOfType(type), view);
  }
  t.equal(viewOf("secret"), undefined);
  t.equal(viewOf("constructor"), undefined);
  t.equal(viewOfType("__proto__"), undefined);
});

t.test("objects have the documented fields", async (t) => {
  const objects = buildAll(samplePool);
  for (const [type, fields] of Object.entries(documented)) {
    const members = new Set(
      objects
        .filter((object) => object.type === type)
        .flatMap((object) => Object.keys(object)),
    );
    const missing = words(fields).filter((field) => !members.has(field));
    t.same(missing, [], type);
  }
});

t.test("searched paths are some that objects have", async (t) => {
  const objects = buildAll(samplePool);
  for (const { className, searched, types } of views) {
    const own = objects.filter(({ type }) => types.includes(type as string));
    if (own.length === 0) continue;
    const lost = searched.filter(
      (path) => !own.some((object) => valueAt(object, path) !== undefined),
    );
    t.same(lost, [], className);
  }
});

t.test("views read fields that XAPI has", async (t) => {
  const unknown = new Set<string>();
  const spy = (className: string, record: XapiRecord) =>
    new Proxy(record, {
      get(target, field: string) {
        if (!Object.hasOwn(datamodel.classes[className]!.fields, field))
          unknown.add(`${className}.${field}`);
        return target[field];
      },
    });
  const observed = Object.fromEntries(
    Object.entries(everyClass).map(([className, members]) => [
      className,
      Object.fromEntries(
        Object.entries(members).map(([key, record]) => [
          key,
          spy(className, record),
        ]),
      ),
    ]),
  );
  const links = new RecordLinks(observed);
  for (const view of views)
    for (const [key, record] of Object.entries(observed[view.className]!)) {
      view.typeOf(record);
      view.idOf?.({ ref: key, record, links });
      view.build({ ref: key, record, links });
    }
  t.same([...unknown], []);
});

t.test("numbers are whole and names are texts", async (t) => {
  for (const object of buildAll(samplePool))
    for (const [field, value] of Object.entries(object)) {
      if (field.startsWith("name_")) t.type(value, "string");
      if (value === null)
        t.ok(["os_version", "device"].includes(field), `${field} is null`);
      if (typeof value === "number") t.ok(Number.isInteger(value), field);
    }
});

function valueAt(object: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      object,
    );
}
