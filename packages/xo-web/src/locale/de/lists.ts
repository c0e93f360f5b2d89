import type { Messages } from "../messages.js";

export const lists: Messages["lists"] = {};
