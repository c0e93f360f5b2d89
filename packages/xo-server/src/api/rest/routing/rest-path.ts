import { percentEncode } from "../../../encoding/percent-encode.js";

/** Root path of the REST API. */
export const REST_ROOT = "/rest/v0";

/** @param collection such as `vms` */
export function toHref(collection: string, id: string): string {
  return `${REST_ROOT}/${collection}/${percentEncode(id)}`;
}
