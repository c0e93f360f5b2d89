import type { Ref } from "@xo-server/model";
import type { XapiRecord } from "../store/record-rows.js";

/** An object as the outside sees it: JSON values only, absent keys rather than undefined ones. */
export type ViewObject = Record<string, unknown>;

/** Facts that a view has beside its own record. Whatever is read here is noted: when it changes, the view is made anew. */
export interface ViewLinks {
  /** Id of the pool object of the pool that the record stands in; undefined while that is not known. */
  readonly poolId: string | undefined;
  /** Id of the object that `ref` points to; undefined for NULL, for an object that is not known, and for anything that is no reference. */
  id(className: string, ref: unknown): string | undefined;
  /** Ids of those objects of a list of references that are known, in its order; [] for anything that is no list. */
  ids(className: string, refs: unknown): string[];
  /** The record that `ref` points to. */
  record(className: string, ref: unknown): XapiRecord | undefined;
  /** The record of that class, in the same pool, whose uuid this is: storage managers name a disk's parent so. */
  recordByUuid?(className: string, uuid: string): XapiRecord | undefined;
  /** The record of the pool itself. */
  pool(): XapiRecord | undefined;
}

/** One record on its way outside. */
export interface ViewSource {
  readonly ref: Ref;
  readonly record: XapiRecord;
  readonly links: ViewLinks;
}

/**
 * How the records of one XAPI class look outside (CONTRACT 3). Pure: the same
 * source gives the same object. A field that the record lacks (an older pool)
 * is left out or has the field's usual default; nothing of it throws.
 */
export interface View {
  /** The XAPI class, in the datamodel's spelling. */
  readonly className: string;
  /** All types that `typeOf` can give. */
  readonly types: readonly string[];
  typeOf(record: XapiRecord): string;
  /** What identifies the object outside; undefined: it is not shown (yet). Default: the record's uuid. */
  idOf?(source: ViewSource): string | undefined;
  /** The object's own fields; `id`, `type`, `uuid`, `$pool`, `$poolId` and `_xapiRef` are added by the catalog. */
  build(source: ViewSource): ViewObject;
  /**
   * Fields that `build` reads of records that it gets through links, by class:
   * a change of others does not concern it. Absent: all of them do.
   */
  readonly reads?: Readonly<Record<string, readonly string[]>>;
  /** Paths (`memory.size`) that lists sort, filter and group by: kept ready as soon as the class is followed. */
  readonly columns: readonly string[];
  /** Those of `columns` in which a search looks. */
  readonly searched: readonly string[];
}
