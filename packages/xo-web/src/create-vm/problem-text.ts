import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";
import type { Problem } from "./problems.js";

/** Problems whose amount is a count, not bytes. */
const COUNTED = new Set(["cpusOfHosts", "quota"]);

/** The sentence below the field, with the amount in its unit. */
export function problemText(
  { code, amount = 0 }: Problem,
  text: Messages,
  formats: Formats,
): string {
  return fill(text.createVm.problems[code], {
    amount: COUNTED.has(code) ? formats.count(amount) : formats.size(amount),
  });
}
