import type { Messages } from "../messages.js";

export const host: Messages["host"] = {};
