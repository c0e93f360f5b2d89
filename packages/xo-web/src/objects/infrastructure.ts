import type { ObjectRow, TextMap } from "../api/object-row.js";

/** Bytes; seconds since 1970. */
export type Host = ObjectRow & {
  readonly hostname: string;
  readonly address: string;
  readonly enabled: boolean;
  readonly power_state: "Running" | "Halted" | "Unknown";
  readonly memory: { readonly size: number; readonly usage: number };
  readonly cpus: { readonly cores: number; readonly sockets: number };
  readonly CPUs: TextMap;
  readonly version: string;
  readonly productBrand: string;
  readonly startTime: number | null;
  readonly agentStartTime: number | null;
  readonly rebootRequired: boolean;
  readonly current_operations: Readonly<Record<string, string>>;
};

export type Pool = ObjectRow & {
  /** Id of the coordinator. */
  readonly master?: string;
  readonly default_SR?: string;
  readonly HA_enabled: boolean;
  readonly auto_poweron: boolean;
  readonly cpus: { readonly cores: number; readonly sockets: number };
};

/** Bytes. */
export type Sr = ObjectRow & {
  readonly SR_type: string;
  readonly content_type: string;
  readonly shared: boolean;
  readonly size?: number;
  readonly physical_usage?: number;
  readonly usage?: number;
  readonly $container?: string;
  readonly inMaintenanceMode: boolean;
  readonly VDIs: readonly string[];
  readonly $PBDs: readonly string[];
};

export type Network = ObjectRow & {
  readonly bridge: string;
  readonly MTU?: number;
  readonly isBonded: boolean;
  readonly PIFs: readonly string[];
  readonly VIFs: readonly string[];
};
