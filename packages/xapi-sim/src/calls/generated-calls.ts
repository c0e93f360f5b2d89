import { fieldType } from "../field-type.js";
import { rowJson, rowXml } from "../listings.js";
import type { Answer } from "../rpc/answer.js";
import { toJson } from "../rpc/json-writer.js";
import { checkStorable, unknownMethod } from "../rpc/param-reader.js";
import { toXml } from "../rpc/xml-writer.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiMap, XapiRecord, XapiValue } from "../xapi-value.js";
import { datamodel } from "@xo-server/model";
import type { CoreContext } from "./core.js";
import type { Method } from "./method-index.js";
import { parseWhere } from "./where.js";

/**
 * The messages that the datamodel implies for every class: listings, getters,
 * setters, add_to, remove_from, create and destroy.
 *
 * @throws XapiFailure NOT_IMPLEMENTED for what is none of them
 */
export function callGenerated(
  context: CoreContext,
  method: Method,
  params: readonly XapiValue[],
): unknown {
  const { className, name } = method;
  const lookUp = lookUps[name];
  if (lookUp !== undefined) return lookUp(context, className, params);
  const kind = method.model.kind;
  if (kind === "create") return create(context, className, params);
  if (kind === "destroy") {
    context.db.destroy(className, params[0] as string);
    return undefined;
  }
  for (const [prefix, access] of accessors) {
    const field = name.slice(prefix.length);
    if (name.startsWith(prefix) && hasField(className, field))
      return access(context, { className, field }, params);
  }
  throw new XapiFailure("NOT_IMPLEMENTED", [method.fullName]);
}

type LookUp = (
  context: CoreContext,
  className: string,
  params: readonly XapiValue[],
) => unknown;

const lookUps: Readonly<Record<string, LookUp>> = {
  __proto__: null as never,
  get_all: ({ db }, className) => [...db.refs(className)],
  get_all_records: ({ core }, className) => listing(core, className),
  get_record: ({ db }, className, [ref]) =>
    recordAnswer(db, className, ref as string),
  get_by_uuid: ({ db }, className, [uuid]) => {
    const ref = db.byUuid(className, uuid as string);
    if (ref === undefined)
      throw new XapiFailure("UUID_INVALID", [className, uuid as string]);
    return ref;
  },
  get_by_name_label: ({ db }, className, [label]) =>
    [...db.records(className)]
      .filter(([, record]) => record["name_label"] === label)
      .map(([ref]) => ref),
  get_all_where: ({ db }, className, [expression]) => {
    const matches = parseWhere(className, expression as string);
    return [...db.records(className)]
      .filter(([, record]) => matches(record))
      .map(([ref]) => ref);
  },
  get_all_records_where: ({ db }, className, [expression]) => {
    const matches = parseWhere(className, expression as string);
    return Object.fromEntries(
      [...db.records(className)].filter(([, record]) => matches(record)),
    );
  },
};

/** All records as bytes, prepared in advance. */
function listing(
  { db, listings }: CoreContext["core"],
  className: string,
): Answer & { escapedJson(): Buffer } {
  const table = db.table(className);
  return {
    json: () => [listings.json(table)],
    xml: () => [listings.xml(table)],
    escapedJson: () => listings.escapedJson(table),
  };
}

function recordAnswer(
  db: CoreContext["db"],
  className: string,
  ref: string,
): Answer {
  db.get(className, ref);
  const row = db.table(className).rows.get(ref)!;
  return { json: () => [rowJson(row)], xml: () => [rowXml(row)] };
}

interface FieldName {
  readonly className: string;
  readonly field: string;
}

type Access = (
  context: CoreContext,
  name: FieldName,
  params: readonly XapiValue[],
) => unknown;

/** Longest prefix first: `add_to_` before `add_`. */
const accessors: readonly (readonly [string, Access])[] = [
  ["get_", getField],
  ["set_", setField],
  ["add_to_", addToMap],
  ["remove_from_", removeFromMap],
  ["add_", addToSet],
  ["remove_", removeFromSet],
];

function hasField(className: string, field: string): boolean {
  return Object.hasOwn(datamodel.classes[className]!.fields, field);
}

function getField(
  { db }: CoreContext,
  { className, field }: FieldName,
  [ref]: readonly XapiValue[],
): Answer {
  const value = db.get(className, ref as string)[field]!;
  const type = fieldType(datamodel.classes[className]!.fields[field]!.type);
  return {
    json: () => [toJson(type, value)],
    xml: () => [toXml(type, value)],
  };
}

function setField(
  { db }: CoreContext,
  { className, field }: FieldName,
  [ref, value]: readonly XapiValue[],
): void {
  if (value === undefined) throw unknownMethod(`${className}.set_${field}`);
  db.get(className, ref as string);
  checkStorable(value);
  db.update(className, ref as string, { [field]: value });
}

function addToMap(
  { db }: CoreContext,
  { className, field }: FieldName,
  [ref, key, value]: readonly XapiValue[],
): void {
  const map = db.get(className, ref as string)[field] as XapiMap;
  const entry = { [key as string]: value! };
  checkStorable(entry);
  if (Object.hasOwn(map, key as string))
    throw new XapiFailure("MAP_DUPLICATE_KEY", [
      className,
      field,
      ref as string,
      key as string,
    ]);
  db.update(className, ref as string, { [field]: { ...map, ...entry } });
}

function removeFromMap(
  { db }: CoreContext,
  { className, field }: FieldName,
  [ref, key]: readonly XapiValue[],
): void {
  const map = db.get(className, ref as string)[field] as XapiMap;
  const rest = Object.fromEntries(
    Object.entries(map).filter(([other]) => other !== key),
  );
  db.update(className, ref as string, { [field]: rest });
}

function addToSet(
  { db }: CoreContext,
  { className, field }: FieldName,
  [ref, value]: readonly XapiValue[],
): void {
  const set = db.get(className, ref as string)[field] as readonly XapiValue[];
  checkStorable(value!);
  if (!set.includes(value!))
    db.update(className, ref as string, { [field]: [...set, value!] });
}

function removeFromSet(
  { db }: CoreContext,
  { className, field }: FieldName,
  [ref, value]: readonly XapiValue[],
): void {
  const set = db.get(className, ref as string)[field] as readonly XapiValue[];
  db.update(className, ref as string, {
    [field]: set.filter((other) => other !== value),
  });
}

function create(
  { db }: CoreContext,
  className: string,
  [record]: readonly XapiValue[],
): string {
  checkStorable(record!);
  return db.create(className, record as XapiRecord);
}
