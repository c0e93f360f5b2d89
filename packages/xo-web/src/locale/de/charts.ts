import type { Messages } from "../messages.js";

export const charts: Messages["charts"] = {};
