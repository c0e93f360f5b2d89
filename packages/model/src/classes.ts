import { datamodel } from "./datamodel.js";

const nameByLowerCase = new Map(
  Object.keys(datamodel.classes).map((name) => [name.toLowerCase(), name]),
);

/**
 * The datamodel's spelling of a class name: `vm` (as event.from writes it) to `VM`.
 * A class that this data model does not know comes back as it was given.
 */
export function classNameOf(name: string): string {
  return nameByLowerCase.get(name.toLowerCase()) ?? name;
}

/**
 * The classes that a mirror of a pool holds: those that make events and can be
 * listed by `get_all_records` (removed ones are not among them).
 */
export const mirroredClasses: readonly string[] = Object.entries(
  datamodel.classes,
)
  .filter(([, model]) => {
    const list = model.messages["get_all_records"];
    return model.events && list !== undefined && list.removed !== true;
  })
  .map(([name]) => name);

/** How integers hide in a field: the field itself, a set of them, the values of a map. */
export type IntegerPlace = "value" | "set" | "map";

/** For each field of a class in which XML-RPC leaves integers untagged (XAPI writes `<value>42</value>`): where they are. */
export function integerFields(
  className: string,
): Readonly<Record<string, IntegerPlace>> {
  const places: Record<string, IntegerPlace> = {};
  const fields = datamodel.classes[className]?.fields ?? {};
  for (const [name, { type }] of Object.entries(fields)) {
    const place = integerPlace(type);
    if (place !== undefined) places[name] = place;
  }
  return places;
}

function integerPlace(type: string): IntegerPlace | undefined {
  if (type === "int") return "value";
  if (type === "int set") return "set";
  if (/^\(.* -> int\) map$/.test(type)) return "map";
  return undefined;
}
