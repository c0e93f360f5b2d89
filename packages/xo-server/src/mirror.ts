import type { MirrorState } from "./pool-state.js";

/** The objects of one pool, as far as its status tells of them. */
export interface Mirror {
  readonly state: MirrorState;
  /** Why it is not watching. */
  readonly error: Error | undefined;
  readonly counts: Readonly<Record<string, number>>;
  readonly revision: number;
  /** Bytes of the listings of the last full load. */
  readonly loadBytes: number;
  stop(): Promise<void>;
}

export interface MirrorListener {
  onState(): void;
  /** So many objects changed. */
  onChanges(count: number): void;
}
