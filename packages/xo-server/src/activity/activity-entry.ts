/** Kinds of events that the activity log records. */
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

/** Another object that is involved, with its name at that time. */
export interface Related {
  readonly id: string;
  readonly type: string;
  readonly name: string;
}

/** The user who caused an event by an operation of this server. */
export interface Actor {
  readonly userId: string;
  readonly userName: string;
  readonly operation: string;
  readonly taskId?: string;
}

/** An event of an object. */
export interface ActivityEntry {
  /** Increases with every entry, also across restarts. */
  readonly seq: number;
  /** ms since the epoch */
  readonly time: number;
  readonly kind: ActivityKind;
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  /** Id of the pool object, if known. */
  readonly pool?: string;
  /** The previous name. */
  readonly was?: string;
  /** The VM of a snapshot. */
  readonly of?: Related;
  /** Source and target host of a migration. */
  readonly from?: Related;
  readonly to?: Related;
  readonly by?: Actor;
}

export type ActivityEvent = Omit<ActivityEntry, "seq" | "time" | "by">;
