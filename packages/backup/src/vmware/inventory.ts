import { childrenOf } from "../xml/xml-element.js";
import {
  readInventory,
  textOf,
  type ObjectProperties,
} from "./property-collector.js";
import { toManagedObject, type SoapClient } from "./soap-client.js";

/** Properties of a VM that are read. */
export const VM_PROPERTIES = [
  "name",
  "runtime.powerState",
  "snapshot",
  "config.template",
  "config.annotation",
  "config.firmware",
  "config.guestFullName",
  "config.bootOptions",
  "config.hardware",
];

/** Names of data centers and networks, which other objects refer to. */
export interface VmwareNames {
  /** Path of the data center of a datastore, by its id. */
  readonly dataCenters: ReadonlyMap<string, string>;
  /** Of port groups of distributed switches, by their key. */
  readonly portGroups: ReadonlyMap<string, string>;
}

interface VmwareInventory {
  readonly vms: readonly ObjectProperties[];
  readonly names: VmwareNames;
}

/** @param withVms false: only the names @throws RepositoryError */
export async function readVmwareInventory(
  client: SoapClient,
  withVms: boolean,
): Promise<VmwareInventory> {
  const objects = await readInventory(client, {
    ...(withVms && { VirtualMachine: VM_PROPERTIES }),
    Datacenter: ["name", "parent", "datastore"],
    DistributedVirtualPortgroup: ["key", "name"],
    Folder: ["name", "parent"],
  });
  const byId = new Map(objects.map((object) => [object.id, object]));
  const dataCenters = new Map<string, string>();
  const portGroups = new Map<string, string>();
  for (const object of objects) {
    if (object.type === "DistributedVirtualPortgroup")
      portGroups.set(textOf(object, "key"), decoded(textOf(object, "name")));
    if (object.type !== "Datacenter") continue;
    const path = pathOf(object, byId);
    const datastores = object.properties.get("datastore");
    for (const datastore of childrenOf(datastores, "ManagedObjectReference"))
      dataCenters.set(toManagedObject(datastore).id, path);
  }
  return {
    vms: objects.filter(
      (object) =>
        object.type === "VirtualMachine" &&
        textOf(object, "config.template") !== "true",
    ),
    names: { dataCenters, portGroups },
  };
}

/** Folders in folders. */
const MAX_DEPTH = 64;

/** Names of the folders and the object, without the root folder. */
function pathOf(
  object: ObjectProperties,
  byId: ReadonlyMap<string, ObjectProperties>,
): string {
  const names: string[] = [];
  let current: ObjectProperties | undefined = object;
  for (let depth = 0; current !== undefined && depth < MAX_DEPTH; depth++) {
    const parent = textOf(current, "parent");
    // The root folder is not in the view.
    names.unshift(decoded(textOf(current, "name")));
    current = byId.get(parent);
  }
  return names.join("/");
}

/** vSphere escapes three characters in names. */
export function decoded(name: string): string {
  return name.replaceAll(/%(2f|5c|25)/gi, (code) => decodeURIComponent(code));
}
