import { isObject, type Json } from "@xo-server/kit";
import type { Messages } from "../locale/messages.js";

export type ActivityKind = keyof Messages["activity"]["kinds"];

export interface Related {
  readonly id: string;
  readonly type: string;
  readonly name: string;
}

/** An event of the activity log (`activity.list`). */
export interface ActivityEntry {
  readonly seq: number;
  /** ms since the epoch */
  readonly time: number;
  readonly kind: ActivityKind;
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  readonly pool?: string;
  /** The previous name. */
  readonly was?: string;
  readonly of?: Related;
  readonly from?: Related;
  readonly to?: Related;
  readonly by?: {
    readonly userName: string;
    readonly operation: string;
    readonly taskId?: string;
  };
}

export interface ActivityPage {
  readonly entries: readonly ActivityEntry[];
  /** `before` of the next page; undefined: this is the last page. */
  readonly before: number | undefined;
}

/** Reads the answer of `activity.get`; anything unexpected becomes an empty page. */
export function toActivityPage(answer: Json): ActivityPage {
  const { entries, before } = isObject(answer) ? answer : {};
  return {
    entries: Array.isArray(entries) ? entries : [],
    before: typeof before === "number" ? before : undefined,
  };
}

/** The event types of each filter. */
export const kindGroups = {
  power: [
    "vm.started",
    "vm.stopped",
    "vm.suspended",
    "vm.resumed",
    "vm.paused",
  ],
  moves: ["vm.moved"],
  created: [
    "vm.created",
    "vm.removed",
    "template.created",
    "template.removed",
    "vm.renamed",
    "template.renamed",
  ],
  snapshots: ["snapshot.created", "snapshot.removed", "snapshot.renamed"],
  hosts: [
    "host.lost",
    "host.back",
    "host.enabled",
    "host.disabled",
    "host.joined",
    "host.left",
    "host.renamed",
    "pool.connected",
    "pool.lost",
    "pool.renamed",
  ],
  resources: [
    "sr.created",
    "sr.removed",
    "sr.renamed",
    "vdi.created",
    "vdi.removed",
    "vdi.renamed",
    "network.created",
    "network.removed",
    "network.renamed",
  ],
} as const satisfies Record<string, readonly ActivityKind[]>;
export type KindGroup = keyof typeof kindGroups;

type ActivityTone = "good" | "bad" | "warn" | "idle" | "busy";

/** The colour of an event type. */
export function toneOf(kind: ActivityKind): ActivityTone {
  if (/\.(lost|left)$/.test(kind)) return "bad";
  if (/\.(removed|disabled)$/.test(kind)) return "warn";
  if (/\.(started|resumed|back|connected|enabled)$/.test(kind)) return "good";
  return /\.(moved|created|joined)$/.test(kind) ? "busy" : "idle";
}
