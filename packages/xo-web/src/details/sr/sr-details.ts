import type { Sr } from "../../objects/infrastructure.js";

/** What only the page of an SR shows. */
export type SrDetails = Sr & {
  /** Absent for kinds that hold no disks. */
  readonly allocationStrategy?: string;
};
