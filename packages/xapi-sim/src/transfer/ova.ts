import { NULL_REF, datamodel } from "@xo-server/model";
import type { Database } from "../database.js";
import { fieldType } from "../field-type.js";
import { contentsOf } from "../operations/vm/vtpms.js";
import type { PoolData } from "../pool-state.js";
import { refs, text } from "../records/fields.js";
import { readParam } from "../rpc/param-reader.js";
import type { WireValue } from "../rpc/wire-value.js";
import { readXmlRequest } from "../rpc/xml-request.js";
import { recordToXml } from "../rpc/xml-writer.js";
import type { XapiRecord, XapiValue } from "../xapi-value.js";

/** An object in an export: `id` replaces its reference, `Ref:0`. */
export interface OvaObject {
  readonly className: string;
  readonly id: string;
  readonly record: XapiRecord;
  /** Of VTPMs, base64. */
  readonly contents?: string;
}

/** Each VM, then what belongs to it. */
export function collectObjects(
  db: Database,
  vms: readonly string[],
): readonly (readonly [className: string, ref: string])[] {
  const found = new Map<string, string>();
  for (const vm of vms) {
    found.set(vm, "VM");
    collect(db, vm, found);
  }
  return [...found].map(([ref, className]) => [className, ref]);
}

function collect(db: Database, vm: string, found: Map<string, string>): void {
  const record = db.get("VM", vm);
  const add = (className: string, ref: string) => {
    if (db.find(className, ref) !== undefined) found.set(ref, className);
  };
  for (const ref of refs(record, "VBDs")) {
    add("VBD", ref);
    const vdi = text(db.get("VBD", ref), "VDI");
    add("VDI", vdi);
    if (db.find("VDI", vdi) !== undefined)
      add("SR", text(db.get("VDI", vdi), "SR"));
  }
  for (const ref of refs(record, "VIFs")) {
    add("VIF", ref);
    add("network", text(db.get("VIF", ref), "network"));
  }
  for (const ref of refs(record, "VTPMs")) add("VTPM", ref);
  add("VM_metrics", text(record, "metrics"));
  add("VM_guest_metrics", text(record, "guest_metrics"));
}

/** ova.xml: version, and objects whose references to one another are ids. */
export function writeOva(pool: PoolData, vms: readonly string[]): string {
  const { db } = pool;
  const objects = collectObjects(db, vms);
  const ids = new Map(objects.map(([, ref], i) => [ref, `Ref:${i}`]));
  const struct = (members: readonly (readonly [string, string])[]) =>
    `<value><struct>${members.map(([name, value]) => `<member><name>${name}</name>${value}</member>`).join("")}</struct></value>`;
  const string = (value: string) => `<value>${value}</value>`;
  const items = objects.map(([className, ref]) =>
    struct([
      ["class", string(className)],
      ["id", string(ids.get(ref)!)],
      [
        "snapshot",
        className === "VTPM"
          ? vtpmToXml(pool, ref, ids)
          : recordToXml(
              className,
              withIds(className, db.get(className, ref), ids),
            ),
      ],
    ]),
  );
  return struct([
    [
      "version",
      struct(version.map(([name, value]) => [name, string(value)] as const)),
    ],
    ["objects", `<value><array><data>${items.join("")}</data></array></value>`],
  ]);
}

/** VTPMs have a record of exports only, with their contents [importexport.ml]. */
function vtpmToXml(
  pool: PoolData,
  ref: string,
  ids: ReadonlyMap<string, string>,
): string {
  const record = pool.db.get("VTPM", ref);
  const flagOf = (name: string) =>
    `<value><boolean>${record[name] === true ? 1 : 0}</boolean></value>`;
  const members = [
    ["VM", `<value>${ids.get(text(record, "VM")) ?? NULL_REF}</value>`],
    ["is_unique", flagOf("is_unique")],
    ["is_protected", flagOf("is_protected")],
    ["content", `<value>${contentsOf(pool, ref)}</value>`],
  ].map(
    ([name, value]) =>
      `<member><name>${VTPM_PREFIX}${name}</name>${value}</member>`,
  );
  return `<value><struct>${members.join("")}</struct></value>`;
}

/** Of the names of members of a VTPM in an export. */
const VTPM_PREFIX = "vTPM'_";

const version: readonly (readonly [string, string])[] = [
  ["hostname", "localhost"],
  ["date", "20250926T12:59:14Z"],
  ["product_version", "8.3.0"],
  ["product_brand", "XCP-ng"],
  ["build_number", "cloud"],
  ["xapi_major", "25"],
  ["xapi_minor", "6"],
  ["export_vsn", "2"],
];

/** References to objects of the export become their ids, all others the null reference; current operations are left out. */
function withIds(
  className: string,
  record: XapiRecord,
  ids: ReadonlyMap<string, string>,
): XapiRecord {
  const idle =
    record["current_operations"] === undefined
      ? record
      : { ...record, allowed_operations: [], current_operations: {} };
  return mapRefs(className, idle, (ref) => ids.get(ref) ?? NULL_REF);
}

/** A record with its references (also those in sets) changed. */
export function mapRefs(
  className: string,
  record: XapiRecord,
  change: (ref: string) => string,
): XapiRecord {
  const fields = datamodel.classes[className]!.fields;
  const changed = Object.entries(record).map(([name, value]) => {
    const type = fields[name]?.type ?? "";
    if (type.endsWith(" ref")) return [name, change(value as string)] as const;
    if (type.endsWith(" ref set"))
      return [
        name,
        (value as readonly string[])
          .map(change)
          .filter((ref) => ref !== NULL_REF),
      ] as const;
    return [name, value] as const;
  });
  return Object.fromEntries<XapiValue>(changed);
}

/** Reads what `writeOva` and XAPI itself write. @throws Error where it is something else */
export function readOva(xml: string): readonly OvaObject[] {
  const call = `<methodCall><methodName>ova</methodName><params><param>${xml.replace(/^<\?xml[^>]*\?>/, "")}</param></params></methodCall>`;
  const [root] = readXmlRequest(Buffer.from(call)).params;
  const objects = member(root, "objects");
  if (objects?.t !== "array") throw new Error("no objects in ova.xml");
  return objects.v.flatMap((object) => {
    const className = textOf(member(object, "class"));
    const snapshot = member(object, "snapshot");
    if (snapshot === undefined || !Object.hasOwn(datamodel.classes, className))
      return [];
    return [
      {
        className,
        id: textOf(member(object, "id")),
        record: readRecord(className, snapshot),
        ...(className === "VTPM"
          ? { contents: textOf(member(snapshot, `${VTPM_PREFIX}content`)) }
          : {}),
      },
    ];
  });
}

/** Field by field: an export of another version may have more or fewer. */
function readRecord(className: string, snapshot: WireValue): XapiRecord {
  const fields = datamodel.classes[className]!.fields;
  const members = snapshot.t === "struct" ? snapshot.v : [];
  return Object.fromEntries(
    members
      .map(([name, value]) => [withoutPrefix(name), value] as const)
      .filter(([name]) => Object.hasOwn(fields, name))
      .map(([name, value]) => [
        name,
        readParam(fieldType(fields[name]!.type), value),
      ]),
  );
}

function withoutPrefix(name: string): string {
  return name.startsWith(VTPM_PREFIX) ? name.slice(VTPM_PREFIX.length) : name;
}

function member(
  value: WireValue | undefined,
  name: string,
): WireValue | undefined {
  return value?.t === "struct"
    ? value.v.find(([key]) => key === name)?.[1]
    : undefined;
}

function textOf(value: WireValue | undefined): string {
  return value?.t === "string" ? value.v : "";
}
