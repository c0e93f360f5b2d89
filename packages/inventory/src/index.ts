export { createInventory } from "./create-inventory.js";
export type {
  AddPoolOptions,
  Inventory,
  InventoryOptions,
  InventoryStats,
  ObjectKey,
  PoolHandle,
  PoolListener,
} from "./inventory.js";
export type { PoolSource } from "./pool-source.js";
export type { PoolStatus } from "./pool-mirror.js";
export type { BackoffOptions, ReflectorState } from "./reflector.js";
export type { StoredObject } from "./stored-object.js";
export type { XapiRecord } from "./class-table.js";
export type { Change, ChangeBatch, ChangeKind } from "./change-ring.js";
export type { ChangeListener } from "./change-feed.js";
export type { Running } from "./slicer.js";
