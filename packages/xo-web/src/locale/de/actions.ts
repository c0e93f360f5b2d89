import type { Messages } from "../messages.js";

export const actions: Messages["actions"] = {};
