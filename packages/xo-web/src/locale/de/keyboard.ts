import type { Messages } from "../messages.js";

export const keyboard: Messages["keyboard"] = {};
