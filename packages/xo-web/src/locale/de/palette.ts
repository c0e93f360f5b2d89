import type { Messages } from "../messages.js";

export const palette: Messages["palette"] = {};
