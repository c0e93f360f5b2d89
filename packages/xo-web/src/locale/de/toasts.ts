import type { Messages } from "../en/messages.js";

export const toasts: Messages["toasts"] = {
  heading: "Benachrichtigungen",
  dismiss: "Schließen",
};
