import type { Messages } from "../messages.js";

export const network: Messages["network"] = {};
