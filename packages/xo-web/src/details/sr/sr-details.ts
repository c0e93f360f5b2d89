import type { Sr } from "../../objects/infrastructure.js";

/** Properties that only the page of an SR uses. */
export type SrDetails = Sr & {
  /** Absent for kinds without disks. */
  readonly allocationStrategy?: string;
};
