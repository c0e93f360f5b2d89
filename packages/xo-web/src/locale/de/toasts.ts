import type { Messages } from "../messages.js";

export const toasts: Messages["toasts"] = {
  heading: "Was gerade geschehen ist",
  putAway: "Wegräumen",
};
