import type { ObjectRow } from "../api/object-row.js";

/** Bytes. */
export type Vdi = ObjectRow & {
  readonly VDI_type: string;
  readonly size?: number;
  readonly usage?: number;
  readonly $SR?: string;
  readonly parent?: string;
  readonly snapshots: readonly string[];
  readonly $VBDs: readonly string[];
};

export type Vbd = ObjectRow & {
  readonly attached: boolean;
  readonly bootable: boolean;
  readonly device: string | null;
  readonly is_cd_drive: boolean;
  readonly position: string;
  readonly read_only: boolean;
  readonly VM?: string;
  readonly VDI?: string;
};

export type Vif = ObjectRow & {
  readonly attached: boolean;
  readonly device: string;
  readonly MAC: string;
  readonly MTU?: number;
  readonly lockingMode: string;
  readonly $network?: string;
  readonly $VM?: string;
};

/** `speed` in Mbit/s; `vlan` -1: none. */
export type Pif = ObjectRow & {
  readonly attached: boolean;
  readonly carrier: boolean;
  readonly device: string;
  readonly deviceName: string;
  readonly mac: string;
  readonly management: boolean;
  readonly physical: boolean;
  readonly vlan: number;
  readonly mtu?: number;
  readonly speed?: number;
  readonly ip?: string;
  readonly $host?: string;
  readonly $network?: string;
};
