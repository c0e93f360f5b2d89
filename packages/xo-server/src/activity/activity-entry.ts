/** What an operator wants to hear of. */
export const activityKinds = [
  "vm.created",
  "vm.removed",
  "vm.started",
  "vm.stopped",
  "vm.suspended",
  "vm.resumed",
  "vm.paused",
  "vm.moved",
  "vm.renamed",
  "template.created",
  "template.removed",
  "template.renamed",
  "snapshot.created",
  "snapshot.removed",
  "snapshot.renamed",
  "host.joined",
  "host.left",
  "host.enabled",
  "host.disabled",
  "host.lost",
  "host.back",
  "host.renamed",
  "sr.created",
  "sr.removed",
  "sr.renamed",
  "network.created",
  "network.removed",
  "network.renamed",
  "vdi.created",
  "vdi.removed",
  "vdi.renamed",
  "pool.connected",
  "pool.lost",
  "pool.renamed",
] as const;
export type ActivityKind = (typeof activityKinds)[number];

/** Another object that has to do with it, by the name that it had. */
export interface Related {
  readonly id: string;
  readonly type: string;
  readonly name: string;
}

/** Who has asked us for it. */
export interface Doer {
  readonly userId: string;
  readonly userName: string;
  readonly operation: string;
  readonly taskId?: string;
}

/** Something that has happened to an object. */
export interface ActivityEntry {
  /** Rises from entry to entry, also over restarts. */
  readonly seq: number;
  /** ms */
  readonly time: number;
  readonly kind: ActivityKind;
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  /** Id of its pool object, where that is known. */
  readonly pool?: string;
  /** Its name before. */
  readonly was?: string;
  /** The VM that a snapshot is of. */
  readonly of?: Related;
  /** The host that it was on, and that it is on. */
  readonly from?: Related;
  readonly to?: Related;
  readonly by?: Doer;
}

export type Happening = Omit<ActivityEntry, "seq" | "time" | "by">;
