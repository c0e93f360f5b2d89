import type { Messages } from "../messages.js";

export const firstRun: Messages["firstRun"] = {};
