import { settings as english } from "../en/settings.js";
import type { Messages } from "../messages.js";

export const settings: Messages["settings"] = english;
