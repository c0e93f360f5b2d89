import type { Messages } from "../messages.js";

export const topology: Messages["topology"] = {};
