import type { Messages } from "../messages.js";

export const activity: Messages["activity"] = {};
