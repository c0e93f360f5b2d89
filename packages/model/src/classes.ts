import { datamodel } from "./datamodel.js";

let nameByLowerCase: ReadonlyMap<string, string> | undefined;
let mirrored: readonly string[] | undefined;

/**
 * Converts a class name to the spelling of the data model: `vm` (XAPI
 * event.from) to `VM`. Unknown names are returned unchanged.
 */
export function classNameOf(name: string): string {
  nameByLowerCase ??= new Map(
    Object.keys(datamodel.classes).map((known) => [known.toLowerCase(), known]),
  );
  return nameByLowerCase.get(name.toLowerCase()) ?? name;
}

/**
 * The classes that are mirrored: those with events and `get_all_records` (not
 * removed in the data model).
 */
export function mirroredClasses(): readonly string[] {
  mirrored ??= Object.entries(datamodel.classes)
    .filter(([, model]) => {
      const list = model.messages["get_all_records"];
      return model.events && list !== undefined && list.removed !== true;
    })
    .map(([name]) => name);
  return mirrored;
}

/**
 * Location of integers in a field: the field itself, the members of a set, the
 * values of a map.
 */
export type IntegerPosition = "value" | "set" | "map";

/**
 * Fields of a class whose integers XML-RPC transmits as strings (XAPI writes
 * `<value>42</value>`), with the location of the integers.
 */
export function integerFields(
  className: string,
): Readonly<Record<string, IntegerPosition>> {
  const positions: Record<string, IntegerPosition> = {};
  const fields = datamodel.classes[className]?.fields ?? {};
  for (const [name, { type }] of Object.entries(fields)) {
    const position = integerPosition(type);
    if (position !== undefined) positions[name] = position;
  }
  return positions;
}

function integerPosition(type: string): IntegerPosition | undefined {
  if (type === "int") return "value";
  if (type === "int set") return "set";
  if (/^\(.* -> int\) map$/.test(type)) return "map";
  return undefined;
}
