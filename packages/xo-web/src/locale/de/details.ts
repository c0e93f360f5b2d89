import type { Messages } from "../messages.js";

export const details: Messages["details"] = {};
