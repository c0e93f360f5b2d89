export { createInventory } from "./mirror/create-inventory.js";
export {
  answerBudget,
  availableBytes,
  machineMemory,
  memoryBudget,
} from "./mirror/memory-budget.js";
export type { MachineMemory, MemoryBudget } from "./mirror/memory-budget.js";
export type {
  AddPoolOptions,
  Inventory,
  InventoryOptions,
  InventoryStats,
  ObjectKey,
  PoolHandle,
  MirrorStatusListener,
} from "./mirror/inventory.js";
export type {
  SnapshotCacheOptions,
  SnapshotCacheStats,
} from "./snapshot-cache/snapshot-cache.js";
export type {
  FetchCopy,
  SnapshotCopy,
} from "./snapshot-cache/snapshot-copy.js";
export { snapshotLayout } from "./snapshot-cache/layout.js";
export type { PoolSource } from "./mirror/pool-source.js";
export type { MirrorStatus } from "./mirror/pool-mirror.js";
export type { RecordDifference } from "./mirror/class-comparison.js";
export type {
  Verification,
  VerifierStats,
  VerifyOptions,
} from "./mirror/pool-verifier.js";
export type { BackoffOptions } from "./mirror/backoff.js";
export type { ReflectorState } from "./mirror/reflector.js";
export type { StoredObject } from "./store/stored-object.js";
export type { XapiRecord } from "./store/record-rows.js";
export type { ChangeKind } from "./feed/change-recorder.js";
export type { Change, ChangeBatch } from "./feed/change-ring.js";
export type { ChangeListener } from "./feed/change-feed.js";
export type { Priority, SectionRunner, Steps } from "./slicer/slicer.js";
export type {
  Catalog,
  CatalogEntry,
  CatalogStats,
  FeedCursor,
  FeedReader,
  Frame,
  ObjectReader,
  RowObserver,
  TypeSummary,
  ViewChange,
  ViewChangeKind,
  ViewFeed,
  ViewTable,
} from "./catalog/catalog.js";
export {
  createCatalog,
  type CatalogOptions,
} from "./catalog/create-catalog.js";
export { readerOf } from "./catalog/row-reader.js";
export { Semaphore } from "./snapshot-cache/semaphore.js";
export { canonicalJson } from "./catalog/canonical-json.js";
export {
  addDigest,
  digestOf,
  digestToText,
  EMPTY_DIGEST,
  subtractDigest,
  type Digest,
} from "./catalog/digest.js";
export { evaluatePredicate } from "./catalog/evaluate-predicate.js";
export { MemberPicker } from "./catalog/member-picker.js";
export { writeMergePatch } from "./catalog/patch-writer.js";
export { compileFilter } from "./filter/compile-filter.js";
export { createObjectFilter } from "./filter/object-filter.js";
export { filterFields, unionOfFields } from "./filter/filter-fields.js";
export { formatFilter, type Filter } from "@xo-server/filter";
export { parseFilter } from "./filter/parse-filter.js";
export type { Predicate } from "./filter/predicate.js";
export { createQueries, type QueriesOptions } from "./query/create-queries.js";
export type {
  ColumnsAnswer,
  ColumnsRequest,
  Group,
  LiveQuery,
  LiveRequest,
  LiveUpdate,
  MetricsTable,
  Page,
  PageRequest,
  Queries,
  QueryStats,
  Selection,
  SortKey,
} from "./query/query.js";
export { metricNames } from "./query/metrics.js";
export { isProperty, objectTypes, propertiesOf } from "./views/properties.js";
export type { View, ViewLinks, ViewObject, ViewSource } from "./views/view.js";
export { toMaskedRecord } from "./views/masked-record.js";
export { isSecretName } from "./views/values/secret-names.js";
export { maskText } from "./views/values/secret-texts.js";
