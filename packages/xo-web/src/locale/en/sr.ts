export const sr = {};
