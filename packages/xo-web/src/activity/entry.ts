import { isObject, type Json } from "@xo-server/kit";
import type { Messages } from "../locale/messages.js";

export type ActivityKind = keyof Messages["activity"]["kinds"];

export interface Related {
  readonly id: string;
  readonly type: string;
  readonly name: string;
}

/** Something that has happened, as `activity.list` tells it. */
export interface ActivityEntry {
  readonly seq: number;
  /** ms */
  readonly time: number;
  readonly kind: ActivityKind;
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  readonly pool?: string;
  /** Its name before. */
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
  /** For the next page; undefined: that was the last. */
  readonly before: number | undefined;
}

export function toActivityPage(told: Json): ActivityPage {
  const { entries, before } = isObject(told) ? told : {};
  return {
    entries: Array.isArray(entries) ? entries : [],
    before: typeof before === "number" ? before : undefined,
  };
}

/** The kinds of a filter, together as an operator thinks of them. */
export const kindGroups = {
  power: [
    ...["vm.started", "vm.stopped", "vm.suspended", "vm.resumed"],
    "vm.paused",
  ],
  moves: ["vm.moved"],
  made: [
    ...["vm.created", "vm.removed", "template.created", "template.removed"],
    ...["vm.renamed", "template.renamed"],
  ],
  snapshots: ["snapshot.created", "snapshot.removed", "snapshot.renamed"],
  hosts: [
    ...["host.lost", "host.back", "host.enabled", "host.disabled"],
    ...["host.joined", "host.left", "host.renamed"],
    ...["pool.connected", "pool.lost", "pool.renamed"],
  ],
  resources: [
    ...["sr.created", "sr.removed", "sr.renamed", "vdi.created"],
    ...["vdi.removed", "vdi.renamed", "network.created"],
    ...["network.removed", "network.renamed"],
  ],
} as const satisfies Record<string, readonly ActivityKind[]>;
export type KindGroup = keyof typeof kindGroups;

export type ActivityTone = "good" | "bad" | "warn" | "idle" | "busy";

/** How a kind is coloured; the words say the same. */
export function toneOf(kind: ActivityKind): ActivityTone {
  if (/\.(lost|left)$/.test(kind)) return "bad";
  if (/\.(removed|disabled)$/.test(kind)) return "warn";
  if (/\.(started|resumed|back|connected|enabled)$/.test(kind)) return "good";
  return /\.(moved|created|joined)$/.test(kind) ? "busy" : "idle";
}
