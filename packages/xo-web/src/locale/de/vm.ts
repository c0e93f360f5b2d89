import type { Messages } from "../messages.js";

export const vm: Messages["vm"] = {};
