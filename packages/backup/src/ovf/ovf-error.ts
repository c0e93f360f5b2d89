import { invalidSource } from "../foreign/foreign-error.js";

/** RepositoryError `source-invalid` about an OVA file. */
export function invalid(reason: string) {
  return invalidSource(`OVA: ${reason}`);
}
