import type { Json } from "@xo-server/kit";

/** What every object of the server has. Ids are uuids. */
export interface ObjectRow {
  readonly id: string;
  /** As the server's types are called: `VM`, `VM-template`, `host`, `SR`... */
  readonly type: string;
  readonly $pool?: string;
  readonly name_label?: string;
  readonly name_description?: string;
  readonly tags?: readonly string[];
  readonly now?: NowFigures;
  readonly [field: string]: Json | NowFigures | undefined;
}

/** Latest metrics of hosts. Requested by the field `now`. */
export interface NowFigures {
  /** 0 to 1 of all the cores of the object. */
  readonly cpu?: number;
  /** Bytes in use. */
  readonly memory?: number;
  /** Bytes a second, read and written. */
  readonly disk?: number;
  readonly network?: number;
}

export type TextMap = Readonly<Record<string, string>>;
