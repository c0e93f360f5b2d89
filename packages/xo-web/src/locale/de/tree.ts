import type { Messages } from "../messages.js";

export const tree: Messages["tree"] = {};
