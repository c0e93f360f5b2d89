import type { Messages } from "../messages.js";

export const sr: Messages["sr"] = {};
