import type { Messages } from "../messages.js";

export const overview: Messages["overview"] = {};
