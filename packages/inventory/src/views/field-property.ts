import type { Field, FieldLink, PropertyReader, ViewSource } from "./view.js";

/** A property that is read from some fields of the record, or of records that it refers to. */
export function fieldProperty(
  fields: string | Field | readonly (string | Field)[],
  convert: (...values: unknown[]) => unknown,
): PropertyReader {
  const all = (Array.isArray(fields) ? fields : [fields]).map(toField);
  const read = (source: ViewSource) =>
    convert(...all.map((field) => readField(source, field)));
  return Object.assign(read, { from: { fields: all, convert } });
}

/** A field of the record of a class that a field of the own record refers to. */
export function linkedField(link: FieldLink, name: string): Field {
  return { name, link };
}

function toField(field: string | Field): Field {
  return typeof field === "string" ? { name: field } : field;
}

function readField({ record, links }: ViewSource, { name, link }: Field) {
  if (link === undefined) return record[name];
  return links.record(link.className, record[link.field])?.[name];
}
