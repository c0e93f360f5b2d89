import type { Messages } from "../messages.js";

export const migrate: Messages["migrate"] = {};
