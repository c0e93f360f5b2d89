import type { Ref } from "@xo-server/model";
import type { XapiRecord } from "../store/record-rows.js";

/** An object as clients see it: JSON values; absent instead of undefined keys. */
export type ViewObject = Record<string, unknown>;

/**
 * Access of a view to other records. Every read is recorded as a dependency:
 * when its result changes, the view is rebuilt.
 */
export interface ViewLinks {
  /** UUID of the pool of the record; undefined while it is not known. */
  readonly poolId: string | undefined;
  /**
   * Id of the object that `ref` points to; undefined for NULL, for unknown objects
   * and for values that are not a reference.
   */
  id(className: string, ref: unknown): string | undefined;
  /**
   * Ids of the known objects of a list of references, in its order; [] for values
   * that are not a list.
   */
  ids(className: string, refs: unknown): string[];
  /** The record that `ref` points to. */
  record(className: string, ref: unknown): XapiRecord | undefined;
  /**
   * The record of a class in the same pool with this UUID: storage drivers
   * refer to the parent of a disk by UUID.
   */
  recordByUuid?(className: string, uuid: string): XapiRecord | undefined;
  /** The record of the pool itself. */
  pool(): XapiRecord | undefined;
}

/** The input of a view. */
export interface ViewSource {
  readonly ref: Ref;
  readonly record: XapiRecord;
  readonly links: ViewLinks;
}

/** A field that parser workers report: columnsOf(className) of model. */
export interface Field {
  readonly name: string;
  /** Whose field it is: the record's own unless given. */
  readonly link?: FieldLink;
}

/** The record of a class that a reported field of the own record refers to. */
export interface FieldLink {
  readonly field: string;
  readonly className: string;
}

/** Fields from which alone a property is read. */
export interface FieldRead {
  readonly fields: readonly Field[];
  /** Gets the fields in their order; undefined where there is no such record or field. */
  readonly convert: (...values: unknown[]) => unknown;
}

/** Reads a property. With `from`, the catalog may read the fields itself, which is cheaper. */
export type PropertyReader = ((source: ViewSource) => unknown) & {
  readonly from?: FieldRead;
};

/**
 * Converts records of one XAPI class to objects. Pure functions: the same
 * source yields the same object. A field that the record lacks (older pools) is
 * left out or has its usual default; views never throw.
 */
export interface View {
  /** The XAPI class, in the datamodel's spelling. */
  readonly className: string;
  /** All results of `typeOf`. */
  readonly types: readonly string[];
  typeOf(record: XapiRecord): string;
  /**
   * Id of the object; undefined: it is not shown (yet). Default: the record's
   * UUID.
   */
  idOf?(source: ViewSource): string | undefined;
  /**
   * Builds the object without `id`, `type`, `uuid`, `$pool`, `$poolId` and
   * `_xapiRef`, which the catalog adds.
   */
  build(source: ViewSource): ViewObject;
  /**
   * Properties of the object that are cheap to read without building all of it,
   * by name: the same values as `build` yields, undefined for those that it
   * leaves out. A path (`memory.size`) is a member that needs fewer records
   * than its property. They see records whose fields are parsed one by one, so they
   * should read fields that parser workers report (columnsOf in model).
   */
  readonly properties?: Readonly<Record<string, PropertyReader>>;
  /**
   * Fields that `build` reads of linked records, by class: changes of other
   * fields do not cause a rebuild. Absent: every change does.
   */
  readonly reads?: Readonly<Record<string, readonly string[]>>;
  /** Paths (`os_version.name`) that a search covers. */
  readonly searched: readonly string[];
}
