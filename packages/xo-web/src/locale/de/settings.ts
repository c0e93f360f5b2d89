import type { Messages } from "../messages.js";

export const settings: Messages["settings"] = {};
