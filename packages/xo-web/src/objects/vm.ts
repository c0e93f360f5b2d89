import type { NowFigures, ObjectRow, TextMap } from "../api/object-row.js";

export type PowerState = "Running" | "Halted" | "Paused" | "Suspended";

/** A VM, template or snapshot, as the server returns it. Sizes in bytes, times in seconds since the epoch. */
export type Vm = ObjectRow & {
  readonly power_state: PowerState;
  /** The host where it runs, else the pool, or the one host with its disks. */
  readonly $container?: string;
  readonly CPUs: { readonly number?: number; readonly max?: number };
  readonly memory: {
    readonly size: number;
    readonly usage?: number;
    readonly dynamic: readonly [number, number];
    readonly static: readonly [number, number];
  };
  readonly addresses: TextMap;
  readonly mainIpAddress?: string;
  readonly os_version: TextMap | null;
  readonly auto_poweron: boolean;
  readonly high_availability: string;
  readonly startTime?: number;
  readonly installTime?: number;
  readonly virtualizationMode?: string;
  readonly current_operations: Readonly<Record<string, string>>;
  readonly blockedOperations: TextMap;
  readonly folder?: string;
  readonly snapshots: readonly string[];
  readonly VIFs: readonly string[];
  readonly $VBDs: readonly string[];
  readonly parent?: string;
  readonly affinityHost?: string;
  readonly snapshot_time?: number;
  readonly $snapshot_of?: string;
  readonly now?: NowFigures;
};
