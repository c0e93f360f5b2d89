import type { Messages } from "../messages.js";

export const tasks: Messages["tasks"] = {};
