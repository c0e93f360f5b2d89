import type { Messages } from "../messages.js";

export const toasts: Messages["toasts"] = {
  heading: "Benachrichtigungen",
  putAway: "Schließen",
};
