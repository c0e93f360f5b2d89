import type { ViewObject } from "@xo-server/inventory";

/** Finds objects by their ids. */
export type ObjectFinder = (id: string) =>
  | {
      readonly type: string;
      readonly object: ViewObject;
    }
  | undefined;

/** Fields with the ids of the owners of an object, by its type; the last owner is a VM. */
const ownerFields: Readonly<Record<string, readonly string[]>> = {
  VBD: ["VM"],
  VIF: ["$VM"],
  VDI: ["$VBDs"],
  "VDI-unmanaged": ["$VBDs"],
  "VDI-snapshot": ["$VBDs", "$snapshot_of"],
  "VM-snapshot": ["$snapshot_of"],
  VTPM: ["vm"],
  VUSB: ["vm"],
  vgpu: ["vm"],
  message: ["$object"],
};

/** Fields from which `ownersOf` starts; empty: objects of this type belong to no VM. */
export function ownerFieldsOf(type: string): readonly string[] {
  return Object.hasOwn(ownerFields, type) ? ownerFields[type]! : [];
}

/**
 * An object's direct owners: of a disk its VBDs, of a VBD its VM. An image in CD
 * drives belongs to none of their VMs.
 */
export function ownersOf(
  type: string,
  object: ViewObject,
  find: ObjectFinder,
): NonNullable<ReturnType<ObjectFinder>>[] {
  const ids = ownerFieldsOf(type).flatMap((field) => {
    const value = object[field];
    return Array.isArray(value) ? (value as unknown[]) : [value];
  });
  return ids.flatMap((id) => {
    const owner = typeof id === "string" ? find(id) : undefined;
    return owner === undefined || owner.object["is_cd_drive"] === true
      ? []
      : [owner];
  });
}
