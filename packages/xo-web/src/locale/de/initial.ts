import { general } from "./general.js";
import { filters } from "./filters.js";
import { lists } from "./lists.js";
import { objects } from "./objects.js";
import { shell } from "./shell.js";
import { toasts } from "./toasts.js";
import { ui } from "./ui.js";
import { xapiMessages } from "./xapi-messages.js";
import type { InitialMessages } from "../en/messages.js";

export const initial: InitialMessages = {
  ...general,
  filters,
  lists,
  objects,
  shell,
  toasts,
  ui,
  xapiMessages,
};
