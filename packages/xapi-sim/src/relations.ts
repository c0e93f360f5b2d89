import { datamodel } from "@xo-server/model";
import { fieldType } from "./field-type.js";

/** A field with an inverse field in the class that it refers to. */
export interface Link {
  readonly field: string;
  /** The field is a set of references; else a single one. */
  readonly many: boolean;
  readonly otherClass: string;
  readonly otherField: string;
}

const byClass = buildLinks();

/**
 * The links that the database follows when an object of the class is written:
 * all of `VBD.VM -> VM.VBDs` from the side of the single reference, and both
 * sides where both are sets (`VM.groups <-> VM_group.VMs`).
 */
export function linksOf(className: string): readonly Link[] {
  return byClass.get(className) ?? [];
}

function buildLinks(): Map<string, Link[]> {
  const links = new Map<string, Link[]>();
  const add = (from: string, to: string): void => {
    const [className, field] = from.split(".") as [string, string];
    const [otherClass, otherField] = to.split(".") as [string, string];
    const many = isSet(className, field);
    const list = links.get(className) ?? [];
    list.push({ field, many, otherClass, otherField });
    links.set(className, list);
  };
  for (const [one, other] of datamodel.relations) {
    if (one === other || !exists(one) || !exists(other)) continue;
    const oneIsSet = isSet(...(one.split(".") as [string, string]));
    const otherIsSet = isSet(...(other.split(".") as [string, string]));
    if (!oneIsSet || otherIsSet) add(one, other);
    if (!otherIsSet || (oneIsSet && otherIsSet)) add(other, one);
  }
  return links;
}

function exists(path: string): boolean {
  const [className, field] = path.split(".") as [string, string];
  return datamodel.classes[className]?.fields[field] !== undefined;
}

function isSet(className: string, field: string): boolean {
  const type = datamodel.classes[className]?.fields[field]?.type ?? "";
  return fieldType(type).kind === "set";
}
