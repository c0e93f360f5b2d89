import type { Messages } from "../messages.js";

export const createVm: Messages["createVm"] = {};
