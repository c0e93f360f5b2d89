import { general } from "./general.js";
import { filters } from "./filters.js";
import { lists } from "./lists.js";
import { objects } from "./objects.js";
import { shell } from "./shell.js";
import { toasts } from "./toasts.js";
import { ui } from "./ui.js";
import { xapiMessages } from "./xapi-messages.js";

/** The texts of the initial view: the frame of the page, the sign-in and the lists. */
export const initial = {
  ...general,
  filters,
  lists,
  objects,
  shell,
  toasts,
  ui,
  xapiMessages,
};
