import type { Messages } from "../messages.js";

export const pool: Messages["pool"] = {};
