import type { Messages } from "../messages.js";

export const heatMap: Messages["heatMap"] = {};
