import { invalidSource } from "../foreign/foreign-error.js";

export function invalid(reason: string) {
  return invalidSource(`OVA: ${reason}`);
}
